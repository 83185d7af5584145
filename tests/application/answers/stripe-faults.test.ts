import { openOperationOf, type Payment } from "../../../src/domain/payment/payment";
import type { PaymentId } from "../../../src/domain/identifiers";
import { parseIdempotencyKey } from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import { isOpen, type OperationKind } from "../../../src/domain/payment/operation";
import { AuthorizePayment } from "../../../src/application/use-cases/authorize-payment";
import { startStripe, type StripeUnderTest } from "../../contracts/payment-gateways/stripe-gateway-harness";
import { stripeFaults, type StripeFault } from "../../support/stripe-stand-in/stripe-stand-in";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";
import { sample } from "../../support/test-size";

const kinds: readonly OperationKind[] = ["authorize", "capture", "void", "refund"];
/** What a question can meet: it is not carried out, it only fails to be answered. */
const questionFaults: readonly (StripeFault | null)[] = [
  null,
  "rate_limited",
  "unauthorized",
  "error_before_acting",
  "silent_before_acting",
  "reset_within_the_answer",
  "proxy_page_after_acting",
  "empty_object_after_acting",
];
/** Three hundred exchanges or so, on whatever machine. */
const PATIENCE_MS = 120_000;
/** Further apart than any interval of the schedule, and well inside the day that Stripe keeps a key. */
const LATER_MS = 3 * 3_600_000;
const LOOKS = 8;
const CALLS = 3;

let stripe: StripeUnderTest;
beforeAll(async () => {
  stripe = await startStripe();
});
afterAll(() => stripe.stop());

class StripeWorldOfPayments extends PaymentsWorld {
  constructor() {
    super();
    Object.assign(this.context, { gateway: stripe.gateway });
  }

  authorizeOnce(): Promise<{ readonly payment: Payment }> {
    return new AuthorizePayment(this.locks, this.context).execute(
      {
        idempotencyKey: parseIdempotencyKey("order"),
        amount: money(5_000n, parseCurrency("EUR")),
        paymentMethod: "pm_card_visa",
        reference: null,
        metadata: {},
        expiresInSeconds: 7 * 86_400,
      },
      this.caller(),
    );
  }

  async isOpen(): Promise<boolean> {
    const { data } = await this.context.payments.list({ merchant: this.merchant, limit: 10 });
    return data.map(openOperationOf).some((open) => open !== undefined && open.dueAt !== null);
  }

  /** The movement under test, under the same key each time. */
  async go(kind: OperationKind, id: PaymentId | null): Promise<string> {
    if (kind === "authorize" || id === null) {
      return codeOf(this.authorizeOnce());
    }
    if (kind === "capture") return codeOf(this.capture(id, "k"));
    return kind === "void" ? codeOf(this.void(id, "k")) : codeOf(this.refund(id, "k", { amount: 2_000n }));
  }
}

/** Sends a movement while everything named goes wrong, then lets caller and reconciler come back until nothing is open. */
async function carriedThrough(kind: OperationKind, sends: readonly StripeFault[], read: StripeFault | null) {
  const { standIn } = stripe;
  const world = new StripeWorldOfPayments();
  let id: PaymentId | null = null;
  if (kind !== "authorize") ({ id } = (await world.authorizeOnce()).payment.facts);
  if (kind === "refund" && id !== null) await world.capture(id, "before");

  standIn.arm(kind, ...sends);
  if (read !== null) standIn.arm("read", read);
  const told: string[] = [];
  // A caller who was told that nothing was sent comes back, and that may be the first time that anything is.
  for (let call = 0; call < CALLS; call += 1) {
    told.push(await world.go(kind, id));
    for (let look = 0; look < LOOKS && (await world.isOpen()); look += 1) {
      world.clock.advance(LATER_MS);
      await world.reconcile();
      if (look === 3) standIn.timePasses();
    }
    // What was still on its way arrives after everything.
    standIn.timePasses();
  }
  standIn.armed.clear();
  const { data } = await world.context.payments.list({ merchant: world.merchant, limit: 10 });
  const [payment, ...others] = data;
  if (payment === undefined || others.length > 0) throw new Error("there is not one payment");
  const operation = payment.facts.operations.find(
    (one) => one.kind === kind && (kind === "authorize" || one.idempotencyKey === "k"),
  );
  const moved = standIn.world.moves.filter(
    (move) => move.kind === kind && move.paymentId === payment.facts.id,
  ).length;
  expect(world.errors).toEqual([]);
  return { told, operation, moved };
}

type Carried = Awaited<ReturnType<typeof carriedThrough>>;

/** At most once; never a failure that moved, never a success that did not; and nothing is open but what a person has. */
function expectTruth({ told, operation, moved }: Carried, what: string): void {
  const status = operation?.status ?? "none";
  expect({ what, moved, told: moved > 1 ? told : [] }).toEqual({ what, moved: Math.min(moved, 1), told: [] });
  if (status === "succeeded") expect({ what, moved }).toEqual({ what, moved: 1 });
  if (status === "failed" || status === "not_sent")
    expect({ what, told, moved }).toEqual({ what, told, moved: 0 });
  if (operation !== undefined && isOpen(operation))
    expect({ what, status }).toEqual({ what, status: "needs_review" });
  for (const answer of told) {
    if (answer === "succeeded") expect({ what, status }).toEqual({ what, status: "succeeded" });
    if (answer.endsWith("_declined")) expect({ what, status }).toEqual({ what, status: "failed" });
  }
}

describe.each(kinds)("through the engine, a %s on Stripe", (kind) => {
  test.each(sample(stripeFaults, 2, kinds.indexOf(kind)))(
    'that meets "%s", and faults in the questions about it, moves at most once and is never told wrongly',
    async (fault) => {
      const shift = stripeFaults.indexOf(fault) + 2 * kinds.indexOf(kind);
      for (const read of sample(questionFaults, questionFaults.length, shift)) {
        expectTruth(await carriedThrough(kind, [fault], read), `${fault}, asked: ${read}`);
      }
    },
    PATIENCE_MS,
  );
});

test.each(stripeFaults)(
  'a capture that meets "%s", and then another fault when it is sent again, as well',
  async (first) => {
    for (const second of sample(stripeFaults, 30, stripeFaults.indexOf(first))) {
      expectTruth(await carriedThrough("capture", [first, second], null), `${first}, then ${second}`);
    }
  },
  PATIENCE_MS,
);

test(
  "faults that pass leave no operation open, and no person has to be asked",
  async () => {
    const lasting: readonly StripeFault[] = [
      "stored_500_before_acting",
      "lapsed",
      "captured_elsewhere",
      "refused",
      "undecided_then_refused",
    ];
    for (const kind of kinds) {
      const passing = stripeFaults.filter((candidate) => !lasting.includes(candidate));
      for (const fault of sample(passing, kinds.length, kinds.indexOf(kind))) {
        const { operation, moved } = await carriedThrough(kind, [fault], null);
        expect({ kind, fault, status: operation?.status, moved }).toEqual({
          kind,
          fault,
          status: "succeeded",
          moved: 1,
        });
      }
    }
  },
  PATIENCE_MS,
);

test("the check can fail: an answer that was lost, taken for a refusal, is noticed", async () => {
  const { operation, moved } = await carriedThrough("capture", ["reset_after_acting"], null);
  const wrong: Carried = {
    told: ["capture_declined"],
    operation: { ...operation!, status: "failed" },
    moved,
  };
  expect(() => expectTruth(wrong, "planted")).toThrow();
});
