import fc from "fast-check";
import type { PaymentId } from "../../../src/domain/identifiers";
import type { Payment } from "../../../src/domain/payment/payment";
import { PaymentError } from "../../../src/domain/payment/errors";
import { openOperationOf } from "../../../src/domain/payment/payment";
import type { StripeFault } from "../../support/stripe-stand-in/stripe-stand-in";
import type { HintsWorld } from "../../support/worlds/hints/hints-world";
import { codeOf } from "../../support/worlds/payments-world";

/** What becomes of a payment at Stripe, whatever is said about it. */
export interface Scenario {
  readonly authorize: "ok" | "lost" | "refused";
  readonly then:
    "nothing" | "void" | "void lost" | "capture" | "capture lost" | "capture late" | "capture undecided";
  readonly refunds: readonly ("ok" | "lost" | "fails later")[];
  readonly elsewhere: "nothing" | "captured" | "lapsed" | "refunded" | "disputed";
}

/** What a history delivers before one of the scenario's steps, or after all of them. */
export interface Delivery {
  readonly before: number;
  readonly what: "event" | "forged" | "stale" | "foreign" | "unknown intent" | "lie" | "time";
  /** Which of the events that there are by then. */
  readonly which: number;
}

/** Enough for any of the schedules in which something is asked or sent again. */
const ROUNDS = 6;
const CARD = "pm_card_visa";
export const STEPS = 5;

const faults: Record<string, StripeFault | undefined> = {
  ok: undefined,
  void: undefined,
  capture: undefined,
  refused: "refused",
  lost: "silent_after_acting",
  "void lost": "silent_after_acting",
  "capture lost": "silent_after_acting",
  "capture late": "lands_late",
  "capture undecided": "undecided",
  "fails later": "fails_later",
};

export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  authorize: fc.constantFrom("ok", "ok", "ok", "lost", "refused"),
  then: fc.constantFrom(
    "nothing",
    "void",
    "void lost",
    "capture",
    "capture lost",
    "capture lost",
    "capture late",
    "capture undecided",
  ),
  refunds: fc.array(fc.constantFrom("ok", "lost", "fails later"), { maxLength: 2 }),
  elsewhere: fc.constantFrom("nothing", "captured", "lapsed", "refunded", "disputed"),
});

export const histories: fc.Arbitrary<readonly Delivery[]> = fc.array(
  fc.record({
    before: fc.nat(STEPS),
    what: fc.constantFrom<Delivery["what"][]>(
      "event",
      "event",
      "event",
      "event",
      "forged",
      "stale",
      "foreign",
      "unknown intent",
      "lie",
      "time",
    ),
    which: fc.nat(20),
  }),
  { maxLength: 16 },
);

/** What can be compared of where a payment has ended: no times, no ids, and not how often was asked. */
export interface Ending {
  readonly status: string;
  readonly captured: string;
  readonly refunded: string;
  readonly operations: readonly string[];
  readonly disputes: readonly string[];
  readonly moves: readonly string[];
}

/** Lives one payment through, with what the history delivers on its way. */
export async function live(
  world: HintsWorld,
  scenario: Scenario,
  history: readonly Delivery[] = [],
): Promise<Ending> {
  const { payments, standIn } = world;
  const deliver = new Deliveries(world, history);
  const arm = (kind: "authorize" | "capture" | "void" | "refund", how: string) => {
    const fault = faults[how];
    if (fault !== undefined) standIn.arm(kind, fault);
  };
  await deliver.before(0);
  arm("authorize", scenario.authorize);
  const id = await authorized(world);
  await untilClosed(world, id);
  await deliver.before(1);
  const { then } = scenario;
  if (then.startsWith("void")) {
    arm("void", then);
    await codeOf(payments.void(id, "v"));
  } else if (then.startsWith("capture")) {
    arm("capture", then);
    await codeOf(payments.capture(id, "c"));
  }
  await deliver.before(2);
  await untilClosed(world, id);
  for (const [index, how] of scenario.refunds.entries()) {
    if ((await payments.payment(id)).facts.status !== "captured") break;
    arm("refund", how);
    await codeOf(payments.refund(id, `r${index}`, { amount: 400n }));
    await deliver.before(3 + index);
    await untilClosed(world, id);
  }
  const intent = (await payments.payment(id)).facts.authorizationReference ?? "";
  if (scenario.elsewhere === "captured") standIn.world.captureInDashboard(intent);
  if (scenario.elsewhere === "lapsed") standIn.world.lapse(intent);
  if (scenario.elsewhere === "refunded") standIn.world.refundInDashboard(intent, 100);
  if (scenario.elsewhere === "disputed") standIn.world.dispute(intent);
  await deliver.before(STEPS);
  await askingAlone(world, id);
  return endingOf(world, await payments.payment(id));
}

/** Declined, it is a payment, too. */
async function authorized({ payments }: HintsWorld): Promise<PaymentId> {
  try {
    return await payments.authorize(CARD, 1_000n, 30 * 86_400);
  } catch (error) {
    if (error instanceof PaymentError) return error.facts["paymentId"] as PaymentId;
    throw error;
  }
}

/** As callers and the server do: ask again until what is open is closed. */
async function untilClosed(world: HintsWorld, id: PaymentId): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const open = openOperationOf(await world.payments.payment(id));
    if (open === undefined || open.status === "needs_review") return;
    if (round === 2) world.standIn.timePasses();
    world.payments.clock.advance(10_000);
    await world.payments.reconcile();
  }
}

async function askingAlone(world: HintsWorld, id: PaymentId): Promise<void> {
  world.standIn.timePasses();
  await untilClosed(world, id);
  await world.payments.observe(id);
}

function endingOf({ standIn }: HintsWorld, { facts }: Payment): Ending {
  const operations = facts.operations.map(({ kind, status, amount, n, failureCode, conflicted }) =>
    [kind, status, amount, n, failureCode, conflicted].join(" "),
  );
  const amountOf = (kind: string) =>
    facts.operations
      .filter((one) => one.kind === kind && one.status === "succeeded")
      .reduce((sum, { amount }) => sum + amount, 0n);
  return {
    status: facts.status,
    captured: String(amountOf("capture")),
    refunded: String(amountOf("refund")),
    operations,
    disputes: facts.disputes.map(({ amount, status }) => `${amount} ${status}`),
    moves: standIn.world.moves.map(({ kind, amount }) => `${kind} ${amount}`),
  };
}

/** Delivers what the history says, and works on it; and holds that nothing is ever sent to Stripe because of it. */
class Deliveries {
  private sent = 0;

  constructor(
    private readonly world: HintsWorld,
    private readonly history: readonly Delivery[],
  ) {}

  async before(step: number): Promise<void> {
    const { world } = this;
    const sent = await world.requestsOf(async () => {
      for (const delivery of this.history.filter(({ before }) => before === step))
        await this.deliver(delivery);
      await world.work.drain();
    });
    const moving = sent.filter((request) => request.startsWith("POST"));
    if (moving.length > 0) throw new Error(`a hint had this sent: ${moving.join(", ")}`);
  }

  private async deliver({ what, which }: Delivery): Promise<void> {
    const { world } = this;
    const { clock } = world.payments;
    const { events } = world;
    const event = events[which % Math.max(1, events.length)];
    this.sent += 1;
    if (what === "time") {
      clock.advance(1_000);
      await world.work.drain();
      return;
    }
    if (event === undefined) return;
    const own = `${event.id}x${this.sent}`;
    const object = event.data.object as { readonly object: string };
    switch (what) {
      case "event":
        // In any order, as often as it is chosen.
        await world.deliver(event);
        return;
      case "forged":
        return refused(world.deliver(event, { secret: "whsec_of_somebody_else_altogether" }));
      case "stale":
        return refused(world.deliver(event, { at: new Date(clock.now().getTime() - 301_000) }));
      case "foreign":
        await world.deliver({ ...event, id: own, type: "customer.subscription.updated" });
        return;
      case "unknown intent":
        await world.deliver({
          ...event,
          id: own,
          data: { object: { object: "charge", payment_intent: "pi_nobodys" } },
        });
        return;
      case "lie":
        // Signed, and of the right payment: nothing that it says counts.
        await world.deliver({
          ...event,
          id: own,
          data: {
            object: { ...object, status: "succeeded", amount: 1, amount_received: 7, amount_refunded: 9 },
          },
        });
    }
  }
}

async function refused(delivered: Promise<unknown>): Promise<void> {
  const code = await delivered.then(
    (reception) => `it was ${String(reception)}`,
    (error: unknown) => String((error as { code?: unknown }).code),
  );
  if (!/^gateway_signature_(invalid|expired)$/.test(code)) throw new Error(`not refused: ${code}`);
}
