import { gatewayKey } from "../../src/domain/operation";
import type { Payment } from "../../src/domain/payment";
import { parseCurrency } from "../../src/domain/money";
import {
  after,
  authorizedPayment,
  authorizingPayment,
  begin,
  capturedPayment,
  capturingPayment,
  declines,
  expiredPayment,
  newOperationId,
  NOON,
  openOperation,
  settled,
  step,
  succeeds,
} from "../support/payments";

const HOUR_MS = 60 * 60 * 1000;

function decide(
  payment: Payment,
  wanted: Parameters<Payment["decideCapture"]>[1] = {},
  now = NOON,
  key = begin(),
) {
  return payment.decideCapture(key, wanted, newOperationId(), after(5_000, now), step(now));
}

describe("a capture", () => {
  it("takes all that was authorized unless less is asked for", () => {
    const all = decide(authorizedPayment({ amount: 1000n })).payment;
    const some = decide(authorizedPayment({ amount: 1000n }), { amount: 1n }).payment;
    expect([openOperation(all).amount, openOperation(some).amount]).toEqual([1000n, 1n]);
  });

  it("is refused with the most that is possible when it asks for more than was authorized", () => {
    const { refusal, operationId } = decide(authorizedPayment({ amount: 1000n }), { amount: 1001n });
    expect(refusal).toMatchObject({ code: "amount_exceeds_authorized", facts: { maxAmount: 1000n } });
    expect(operationId).toBeUndefined();
  });

  it("is refused in another currency, after the amount and before anything is written", () => {
    const payment = authorizedPayment();
    const { refusal, payment: next } = decide(payment, { currency: parseCurrency("USD") });
    expect(refusal?.code).toBe("currency_mismatch");
    expect(next).toBe(payment);
    expect(decide(payment, { amount: 9999n, currency: parseCurrency("USD") }).refusal?.code).toBe(
      "amount_exceeds_authorized",
    );
  });

  it("is possible in the last millisecond of the authorization, and too late at its very end", () => {
    const payment = authorizedPayment({ expiresAt: after(HOUR_MS) });
    expect(decide(payment, {}, after(HOUR_MS - 1)).refusal).toBeUndefined();
    const late = decide(payment, {}, after(HOUR_MS));
    expect(late.refusal?.code).toBe("payment_expired");
    expect(late.payment.facts.status).toBe("expired");
    expect(openOperation(late.payment)).toMatchObject({ kind: "void", idempotencyKey: null, amount: 1000n });
  });

  it("is too late before it is too much", () => {
    const payment = authorizedPayment({ expiresAt: after(HOUR_MS) });
    expect(decide(payment, { amount: 9999n }, after(HOUR_MS)).refusal?.code).toBe("payment_expired");
  });

  it("does not begin beside another open operation", () => {
    expect(() => decide(capturingPayment())).toThrow(
      expect.objectContaining({ code: "capture_in_progress" }),
    );
  });

  it("that was not sent goes on in the same operation with the same gateway key", () => {
    const key = begin();
    const first = decide(authorizedPayment(), { amount: 7n }, NOON, key).payment;
    const unsent = first.notSent(key.operationId, "refused", step());
    const again = decide(unsent, { amount: 7n }, after(9), { ...key, operationId: newOperationId() });
    expect(again.operationId).toBe(key.operationId);
    expect(gatewayKey(openOperation(again.payment))).toBe(gatewayKey(openOperation(first)));
    expect(openOperation(again.payment)).toMatchObject({ status: "started", firstSentAt: after(9) });
  });

  it("that was declined leaves the payment to be captured under another key", () => {
    const declined = settled(capturingPayment(), declines("card says no"));
    expect(declined.facts.status).toBe("authorized");
    expect(declined.facts.operations.at(-1)).toMatchObject({
      status: "failed",
      failureCode: "capture_declined",
      failureReason: "card says no",
    });
    expect(capturedPayment(declined).facts.status).toBe("captured");
  });

  it("that finds the authorization gone ends the payment, and owes a release", () => {
    const gone = settled(capturingPayment(), { outcome: "authorization_gone", reason: "gone" });
    expect(gone.facts.status).toBe("expired");
    expect(gone.facts.operations[1]).toMatchObject({ status: "failed", failureCode: "payment_expired" });
    expect(openOperation(gone)).toMatchObject({ kind: "void", idempotencyKey: null });
  });

  it("keeps its gateway key through every resend", () => {
    const capturing = capturingPayment();
    const { id } = openOperation(capturing);
    const resent = capturing
      .stillUnknown(id, { dueAt: after(9), attempts: 1 }, "timeout", step())
      .claimResend(id, true, step(after(9)));
    expect(gatewayKey(openOperation(resent))).toBe(gatewayKey(openOperation(capturing)));
    expect(openOperation(resent).firstSentAt).toEqual(openOperation(capturing).firstSentAt);
  });
});

describe("an answer that comes again", () => {
  it("changes nothing where it says what is known", () => {
    const captured = capturedPayment();
    const { id } = captured.facts.operations[1]!;
    expect(captured.settle(id, succeeds("cap_1"), newOperationId(), NOON, step())).toBe(captured);
  });

  it.each([
    ["succeeded", succeeds("cap_1"), declines()],
    ["failed", declines(), succeeds("cap_2")],
  ])("goes to a person where the operation has %s and it says otherwise", (_, first, second) => {
    const known = settled(capturingPayment(), first);
    const { id } = known.facts.operations[1]!;
    const doubted = known.settle(id, second, newOperationId(), NOON, step());
    expect(doubted.operation(id)).toMatchObject({ status: "needs_review", conflicted: true });
    expect(doubted.newEvents.map(({ type }) => type).slice(-2)).toEqual([
      "operation.evidence_conflict",
      "operation.needs_review",
    ]);
  });
});

describe("the release of an expired payment", () => {
  it("does not show as a void to callers", () => {
    expect(expiredPayment().visibleStatus).toBe("expired");
  });

  it("that is refused goes on under a new gateway key, sent for the first time again", () => {
    const expired = expiredPayment();
    const refused = settled(expired, declines("busy"), after(1));
    expect(openOperation(refused)).toMatchObject({ status: "unknown", n: 2, firstSentAt: null, attempts: 1 });
    expect(gatewayKey(openOperation(refused))).not.toBe(gatewayKey(openOperation(expired)));
  });

  it.each([succeeds("void_1"), { outcome: "authorization_gone", reason: "gone" } as const])(
    "is done when the gateway says %j",
    (answer) => {
      const done = settled(expiredPayment(), answer);
      expect(done.openOperation).toBeUndefined();
      expect(done.facts.status).toBe("expired");
    },
  );
});

describe("an operation that was closed as never sent", () => {
  const unsent = () => {
    const capturing = capturingPayment();
    const { id } = openOperation(capturing);
    return { id, payment: capturing.notSent(id, "refused", step()) };
  };

  it("and moved money after all, as the gateway says later, goes to a person", () => {
    const { id, payment } = unsent();
    // By then the payment may have gone on; what it is now cannot decide what happened.
    const voided = expiredPayment(payment);
    const released = settled(voided, succeeds("void_1"));
    const told = released.settle(id, succeeds("cap_1"), newOperationId(), NOON, step());
    expect(told.operation(id)).toMatchObject({ status: "needs_review", conflicted: true });
    expect(told.amountCaptured).toBe(0n);
  });

  it("and was refused, as the gateway says later, stays as it is", () => {
    const { id, payment } = unsent();
    expect(payment.settle(id, declines(), newOperationId(), NOON, step())).toBe(payment);
  });
});

describe("a declined authorization", () => {
  it("declines the payment, with the gateway's words", () => {
    const declined = settled(authorizingPayment(), declines("insufficient funds"));
    expect(declined.facts).toMatchObject({ status: "declined", authorizedAt: null });
    expect(declined.facts.operations[0]).toMatchObject({ failureReason: "insufficient funds" });
    expect(decide(declined).refusal?.code).toBe("payment_not_capturable");
  });
});
