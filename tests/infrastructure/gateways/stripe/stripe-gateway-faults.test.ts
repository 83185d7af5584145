import { randomUUID } from "node:crypto";
import type { FindAnswer, GatewayAnswer } from "../../../../src/application/ports/payment-gateway";
import { money, parseCurrency } from "../../../../src/domain/money";
import type { OperationKind } from "../../../../src/domain/payment/operation";
import {
  startStripe,
  type StripeUnderTest,
} from "../../../contracts/payment-gateways/stripe-gateway-harness";
import { stripeFaults, type StripeFault } from "../../../support/stripe-stand-in/stripe-stand-in";
import { sample } from "../../../support/test-size";

const kinds: readonly OperationKind[] = ["authorize", "capture", "void", "refund"];
const amount = money(5_000n, parseCurrency("EUR"));
/** A question is not carried out: it only fails to be answered. */
const questionFaults: readonly StripeFault[] = [
  "rate_limited",
  "unauthorized",
  "error_before_acting",
  "silent_before_acting",
  "reset_before_acting",
  "reset_within_the_answer",
  "stalls_within_the_answer",
  "proxy_page_after_acting",
  "proxy_error_after_acting",
  "empty_object_after_acting",
  "null_after_acting",
];
/** As a caller does who never gives up: more rounds than there are faults. */
const ROUNDS = 6;
/** Dozens of exchanges each, on whatever machine. */
const PATIENCE_MS = 60_000;

let stripe: StripeUnderTest;
beforeAll(async () => {
  stripe = await startStripe();
});
afterAll(() => stripe.stop());

/**
 * Sends one operation while everything named goes wrong, and goes on as the engine does: asks, and sends the same key
 * again. Says what it was told in the end, and what really moved, late arrivals included.
 */
async function carriedThrough(
  kind: OperationKind,
  sends: readonly StripeFault[],
  reads: readonly StripeFault[],
) {
  const { gateway, standIn } = stripe;
  const paymentId = randomUUID();
  const common = { paymentId, amount, timeoutMs: 5_000 };
  const fresh = () => ({ ...common, gatewayKey: randomUUID(), operationId: randomUUID() });
  let authorizationReference = "";
  if (kind !== "authorize") {
    const answer = await gateway.authorize({ ...fresh(), paymentMethod: "pm_card_visa" });
    authorizationReference = answer.outcome === "succeeded" ? answer.reference : "";
  }
  if (kind === "refund") await gateway.capture({ ...fresh(), authorizationReference });

  standIn.arm(kind, ...sends);
  standIn.arm("read", ...reads);
  const request = { ...fresh(), authorizationReference };
  const send = (): Promise<GatewayAnswer> =>
    kind === "authorize"
      ? gateway.authorize({ ...request, paymentMethod: "pm_card_visa" })
      : gateway[kind](request);
  const moved = () =>
    standIn.world.moves.filter((move) => move.paymentId === paymentId && move.kind === kind).length;

  let told: GatewayAnswer | FindAnswer = await send();
  const movedWhenNotSent = told.outcome === "not_sent" ? moved() : 0;
  for (let round = 0; round < ROUNDS && !isForGood(told); round++) {
    told = await gateway.find({
      ...request,
      kind,
      authorizationReference: kind === "authorize" ? null : authorizationReference,
    });
    if (!isForGood(told) && told.outcome !== "pending") told = await send();
    if (round === ROUNDS - 2) standIn.timePasses();
  }
  standIn.timePasses();
  standIn.armed.clear();
  return { told, moved: moved(), movedWhenNotSent };
}

function isForGood({ outcome }: GatewayAnswer | FindAnswer): boolean {
  return outcome === "succeeded" || outcome === "declined" || outcome === "authorization_gone";
}

function expectTruth(
  { told, moved, movedWhenNotSent }: Awaited<ReturnType<typeof carriedThrough>>,
  what: string,
) {
  const truth = told.outcome === "succeeded" ? 1 : isForGood(told) ? 0 : moved;
  expect({ what, told: told.outcome, moved, movedWhenNotSent }).toEqual({
    what,
    told: told.outcome,
    moved: truth,
    movedWhenNotSent: 0,
  });
  expect(moved).toBeLessThanOrEqual(1);
}

describe("whatever Stripe or the network does, money moves at most once and a move is never told as a failure", () => {
  for (const kind of kinds) {
    it.each(sample(stripeFaults, 2, kinds.indexOf(kind)))(
      `whatever Stripe or the network does, money moves at most once and a move is never told as a failure when a ${kind} meets "%s", and the question about it meets anything`,
      async (fault) => {
        expectTruth(await carriedThrough(kind, [fault], []), fault);
        const shift = stripeFaults.indexOf(fault) + 2 * kinds.indexOf(kind);
        for (const read of sample(questionFaults, questionFaults.length, shift)) {
          expectTruth(await carriedThrough(kind, [fault], [read]), `${fault}, asked: ${read}`);
        }
      },
      PATIENCE_MS,
    );
  }

  it.each(stripeFaults)(
    'whatever Stripe or the network does, money moves at most once and a move is never told as a failure when a capture meets "%s", and its resend meets anything',
    async (first) => {
      for (const second of sample(stripeFaults, 30, stripeFaults.indexOf(first))) {
        expectTruth(await carriedThrough("capture", [first, second], []), `${first}, then ${second}`);
      }
    },
    PATIENCE_MS,
  );
});

it.each(kinds)(
  "a %s that met a fault which passes ends with an answer",
  async (kind) => {
    const lasting: readonly StripeFault[] = [
      "stored_500_before_acting",
      "lapsed",
      "captured_elsewhere",
      "refused",
      "undecided_then_refused",
    ];
    const passing = stripeFaults.filter((candidate) => !lasting.includes(candidate));
    for (const fault of sample(passing, kinds.length, kinds.indexOf(kind))) {
      const { told, moved } = await carriedThrough(kind, [fault], []);
      expect({ fault, told: told.outcome, moved }).toEqual({ fault, told: "succeeded", moved: 1 });
    }
  },
  PATIENCE_MS,
);
