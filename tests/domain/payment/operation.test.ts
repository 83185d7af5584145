import {
  isFinished,
  isInReview,
  isOpen,
  isRelease,
  isVoidInVain,
  type Operation,
  type OperationStatus,
} from "../../../src/domain/payment/operation";
import { decideRefund, decideVoid } from "../../../src/domain/payment/decide-movement";
import type { Payment } from "../../../src/domain/payment/payment";
import type { GatewayPicture } from "../../../src/domain/payment/picture/gateway-picture";
import { observePicture } from "../../../src/domain/payment/picture/observe-picture";
import { stillUnknown } from "../../../src/domain/payment/waiting";
import {
  after,
  authorizedPayment,
  begin,
  begunBy,
  capturedPayment,
  expiredPayment,
  forged,
  openOperation,
  step,
  WEEK_MS,
} from "../../support/worlds/payments";

const HOUR = 60 * 60_000;
const STATUSES: readonly OperationStatus[] = [
  "started",
  "unknown",
  "pending",
  "requires_action",
  "needs_review",
  "succeeded",
  "failed",
  "not_sent",
];

const voiding = openOperation(begunBy(decideVoid(authorizedPayment(), begin(), step())).payment);
const release = openOperation(expiredPayment());

function changed(payment: Payment, id: string, change: Partial<Operation>): Payment {
  const operations = payment.facts.operations.map((one) => (one.id === id ? { ...one, ...change } : one));
  return forged(payment, { operations });
}

test("an operation owes its outcome, or has it, or was never sent; doubt puts it before a person in each case", () => {
  const those = (is: (operation: Operation) => boolean, conflicted = false) =>
    STATUSES.filter((status) => is({ ...voiding, status, conflicted }));
  expect(those(isOpen)).toEqual(["started", "unknown", "pending", "requires_action", "needs_review"]);
  expect(those(isFinished)).toEqual(["succeeded", "failed"]);
  expect(those(isInReview)).toEqual(["needs_review"]);
  expect(those(isInReview, true)).toEqual(STATUSES);
});

test("a release is a void that no caller asked for, and that was not made elsewhere", () => {
  expect(isRelease(release)).toBe(true);
  expect(isRelease(voiding)).toBe(false);
  expect(isRelease({ ...release, kind: "refund" })).toBe(false);
  expect(isRelease({ ...release, origin: "gateway" })).toBe(false);
});

test("a void is in vain as long as it is open, but not one whose success another answer contradicts", () => {
  for (const status of STATUSES)
    expect(isVoidInVain({ ...voiding, status })).toBe(isOpen({ ...voiding, status }));
  expect(isVoidInVain({ ...voiding, kind: "capture" })).toBe(false);
  expect(isVoidInVain({ ...voiding, conflicted: true })).toBe(true);
  expect(isVoidInVain({ ...voiding, status: "needs_review", conflicted: true })).toBe(false);
});

test("a release is asked about twice as often as what a caller waits for, before a person hears of it", () => {
  const now = after(WEEK_MS + HOUR);
  const afterOneMore = (payment: Payment, attempts: number) => {
    const { id } = openOperation(payment);
    const asked = { status: "unknown", attempts, askedAt: now, dueAt: now } as const;
    return openOperation(stillUnknown(changed(payment, id, asked), id, "no answer", step(now)));
  };
  const owed = expiredPayment();
  expect(afterOneMore(owed, 7)).toMatchObject({
    status: "unknown",
    attempts: 8,
    dueAt: after(6 * HOUR, now),
  });
  expect(afterOneMore(owed, 10)).toMatchObject({ status: "unknown", attempts: 11 });
  expect(afterOneMore(owed, 11).status).toBe("needs_review");
  const wanted = begunBy(decideVoid(authorizedPayment(), begin(), step())).payment;
  expect(afterOneMore(wanted, 4)).toMatchObject({ status: "unknown", attempts: 5 });
  expect(afterOneMore(wanted, 5).status).toBe("needs_review");
});

describe("totals that a picture would make untrue", () => {
  const blank: GatewayPicture = {
    authorization: "captured",
    authorizedUntil: null,
    captured: null,
    cancellation: null,
    refunds: [],
    disputes: [],
  };
  const refunding = begunBy(decideRefund(capturedPayment(), begin(), { amount: 1000n }, step())).payment;
  const { id: operationId } = openOperation(refunding);
  const seen = [{ reference: "re_1", amount: 1000n, operationId, reason: null, state: "succeeded" }] as const;

  test("a refund of all that was captured is taken from a picture", () => {
    const next = observePicture(refunding, { ...blank, refunds: seen }, step());
    expect(next.facts.operations.at(-1)).toMatchObject({ id: operationId, status: "succeeded" });
  });

  test("a refund of what was not captured, as far as is recorded, is kept for a person", () => {
    const capture = refunding.facts.operations.find(({ kind }) => kind === "capture")!;
    const without = changed(refunding, capture.id, { status: "failed" });
    const next = observePicture(without, { ...blank, refunds: seen }, step());
    expect(openOperation(next)).toMatchObject({ id: operationId, status: "needs_review", conflicted: true });
    expect(next.newEvents.at(-1)?.data).toMatchObject({
      reason:
        "the gateway answered succeeded, which cannot be recorded: with it, the payment's totals could not be true",
    });
  });
});
