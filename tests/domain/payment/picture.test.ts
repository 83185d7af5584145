import fc from "fast-check";
import { decideCapture, decideRefund, decideVoid } from "../../../src/domain/payment/decide-movement";
import type { SettledAnswer } from "../../../src/domain/payment/facts";
import { expire, isLapsed } from "../../../src/domain/payment/expiry";
import { isOpen } from "../../../src/domain/payment/operation";
import { openOperationOf, type Payment } from "../../../src/domain/payment/payment";
import type { GatewayPicture, SeenRefund } from "../../../src/domain/payment/picture/gateway-picture";
import { disputeStatuses } from "../../../src/domain/payment/picture/gateway-picture";
import { observePicture, settleIfPossible } from "../../../src/domain/payment/picture/observe-picture";
import { settle } from "../../../src/domain/payment/settlement";
import { stillUnknown } from "../../../src/domain/payment/waiting";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { after, authorizingPayment, begin, step, WEEK_MS } from "../../support/worlds/payments";
import { size } from "../../support/test-size";

type Act = (payment: Payment, now: Date) => Payment;

/** What the gateway may show, about operations of this payment by their place, or about none. */
const pictures = fc.record({
  authorization: fc.constantFrom("undecided", "open", "captured", "cancelled", "lapsed"),
  until: fc.constantFrom(null, 60_000, 2 * WEEK_MS),
  captured: fc.option(
    fc.record({ amount: fc.bigInt(0n, 1_200n), of: fc.integer({ min: -1, max: 4 }), ref: fc.nat(2) }),
  ),
  by: fc.constantFrom("others", "unnamed", 0, 1, 2),
  refunds: fc.array(
    fc.record({
      amount: fc.bigInt(0n, 1_200n),
      of: fc.integer({ min: -1, max: 6 }),
      ref: fc.nat(3),
      state: fc.constantFrom("pending", "succeeded", "failed"),
    }),
    { maxLength: 4 },
  ),
  disputes: fc.uniqueArray(
    fc.record({ n: fc.nat(1), status: fc.constantFrom(...disputeStatuses), dueInMs: fc.option(fc.nat(9)) }),
    { maxLength: 2, selector: ({ n }) => n },
  ),
});
type Drawn = typeof pictures extends fc.Arbitrary<infer One> ? One : never;

function drawn({ facts: { operations } }: Payment, of: Drawn, now: Date): GatewayPicture {
  const named = (place: number) => operations[place]?.id ?? null;
  const unique = new Map(of.refunds.map((refund) => [refund.ref, refund]));
  const by = typeof of.by === "number" ? { operationId: named(of.by) ?? "nobody" } : of.by;
  return {
    authorization: of.authorization,
    authorizedUntil: of.until === null ? null : after(of.until),
    captured:
      of.captured === null
        ? null
        : {
            reference: `ch_${of.captured.ref}`,
            amount: of.captured.amount,
            operationId: named(of.captured.of),
          },
    cancellation: { reference: "cancelled", by: by as NonNullable<GatewayPicture["cancellation"]>["by"] },
    refunds: [...unique.values()].map((refund): SeenRefund => ({
      reference: `re_${refund.ref}`,
      amount: refund.amount,
      operationId: named(refund.of),
      state: refund.state,
      reason: null,
    })),
    disputes: of.disputes.map(({ n, status, dueInMs }) => ({
      id: `du_${n}`,
      status,
      amount: 100n,
      reason: "why",
      dueBy: dueInMs === null ? null : after(dueInMs, now),
    })),
  };
}

const answers: fc.Arbitrary<SettledAnswer> = fc.constantFrom(
  { outcome: "succeeded", reference: "ref" },
  { outcome: "declined", reason: "no" },
  { outcome: "authorization_gone", reason: "gone" },
);
const settling = answers.map((answer): Act => (payment, now) => {
  const open = openOperationOf(payment);
  // As wherever an answer is heard: one that the totals have no room for any more goes before a person.
  return open === undefined ? payment : settleIfPossible(payment, open, answer, step(now));
});
const beginning = fc.tuple(fc.nat(2), fc.bigInt(1n, 1_000n)).map(([kind, amount]): Act => (payment, now) => {
  const decision =
    kind === 0
      ? decideCapture(payment, begin(), { amount }, step(now))
      : kind === 1
        ? decideVoid(payment, begin(), step(now))
        : decideRefund(payment, begin(), { amount }, step(now));
  return decision.outcome === "begun" ? decision.payment : (decision.changed ?? payment);
});
const unknown: Act = (payment, now) => {
  const open = openOperationOf(payment);
  return open === undefined ? payment : stillUnknown(payment, open.id, "?", step(now));
};
const lapse: Act = (payment, now) =>
  openOperationOf(payment) === undefined && isLapsed(payment, now) ? expire(payment, step(now)) : payment;
const seeing = pictures.map(
  (of): Act =>
    (payment, now) =>
      observePicture(payment, drawn(payment, of, now), step(now)),
);

const acts = fc.oneof(
  { arbitrary: seeing, weight: 4 },
  { arbitrary: settling, weight: 3 },
  { arbitrary: beginning, weight: 3 },
  fc.constant(unknown),
  fc.constant(lapse),
);
/** An authorization that succeeded, and what happens then. */
const lives = fc.tuple(
  fc.array(fc.tuple(acts, fc.constantFrom(0, 1_000, WEEK_MS)), { maxLength: 12 }),
  pictures,
);

function live(life: readonly (readonly [Act, number])[]): { payment: Payment; now: Date } {
  const authorizing = authorizingPayment();
  let now = authorizing.facts.createdAt;
  const answer = { outcome: "succeeded", reference: "auth_1" } as const;
  let payment = settle(authorizing, openOperationOf(authorizing)!.id, answer, step(now));
  for (const [act, waitMs] of life) {
    now = after(waitMs, now);
    payment = act(payment, now);
  }
  return { payment, now };
}

describe("whatever the gateway shows of whatever payment", () => {
  const check = (property: (payment: Payment, picture: GatewayPicture, now: Date) => void) =>
    fc.assert(
      fc.property(lives, ([life, of]) => {
        const { payment, now } = live(life);
        property(payment, drawn(payment, of, now), now);
      }),
      { numRuns: size(1_000, 250) },
    );

  it("the same picture a second time changes nothing", () => {
    check((payment, picture, now) => {
      const once = observePicture(payment, picture, step(now));
      expect(observePicture(once, picture, step(now))).toBe(once);
    });
  });

  it("at most one operation is open, and what is open was so before, or is before a person", () => {
    check((payment, picture, now) => {
      const open = observePicture(payment, picture, step(now)).facts.operations.filter(isOpen);
      expect(open.length).toBeLessThanOrEqual(1);
      const before = openOperationOf(payment)?.id;
      for (const one of open) expect(one.id === before || one.status === "needs_review").toBe(true);
    });
  });

  it("each change is told, numbered without a gap", () => {
    check((payment, picture, now) => {
      const next = observePicture(payment, picture, step(now));
      if (next === payment) return;
      expect(next.newEvents.length).toBeGreaterThan(payment.newEvents.length);
      expect(next.newEvents.map(({ sequence }) => sequence)).toEqual(next.newEvents.map((_, at) => at + 1));
    });
  });

  it("every guard of the store lets it be written", async () => {
    await fc.assert(
      fc.asyncProperty(lives, async ([life, of]) => {
        const repository = new InMemoryPaymentRepository();
        const { payment, now } = live(life);
        const picture = drawn(payment, of, now);
        await repository.save(observePicture(payment, picture, step(now)), "new");
      }),
      { numRuns: size(500, 150) },
    );
  });
});
