import { decideCapture, type Decision, type WantedAmount } from "../../../src/domain/payment/decide-movement";
import { settle } from "../../../src/domain/payment/settlement";
import { claimResend, notSent, stillUnknown } from "../../../src/domain/payment/waiting";
import { gatewayKey } from "../../../src/domain/payment/operation";
import {
  amountCaptured,
  operationOf,
  openOperationOf,
  visibleStatus,
  type Payment,
} from "../../../src/domain/payment/payment";
import { parseCurrency } from "../../../src/domain/money";
import {
  after,
  authorizedPayment,
  authorizingPayment,
  begin,
  begunBy,
  capturedPayment,
  capturingPayment,
  declines,
  expiredPayment,
  NOON,
  openOperation,
  refusalOf,
  settled,
  step,
  succeeds,
} from "../../support/worlds/payments";

const HOUR_MS = 60 * 60 * 1000;

function decide(payment: Payment, wanted: WantedAmount = {}, now = NOON, key = begin()) {
  return decideCapture(payment, key, wanted, step(now));
}

describe("a capture", () => {
  it("a capture takes all that was authorized unless less is asked for", () => {
    const all = begunBy(decide(authorizedPayment({ amount: 1000n }))).payment;
    const some = begunBy(decide(authorizedPayment({ amount: 1000n }), { amount: 1n })).payment;
    expect([openOperation(all).amount, openOperation(some).amount]).toEqual([1000n, 1n]);
  });

  it("a capture is refused with the most that is possible when it asks for more than was authorized", () => {
    expect(decide(authorizedPayment({ amount: 1000n }), { amount: 1001n })).toMatchObject({
      outcome: "refused",
      refusal: { code: "amount_exceeds_authorized", facts: { maxAmount: 1000n } },
      changed: null,
    });
  });

  it("a capture is refused in another currency, after the amount and before anything is written", () => {
    const payment = authorizedPayment();
    const currency = parseCurrency("USD");
    expect(decide(payment, { currency })).toMatchObject({
      refusal: { code: "currency_mismatch" },
      changed: null,
    });
    expect(refusalOf(decide(payment, { amount: 9999n, currency }))).toBe("amount_exceeds_authorized");
  });

  it("a capture is possible in the last millisecond of the authorization, and too late at its very end", () => {
    const payment = authorizedPayment({ expiresAt: after(HOUR_MS) });
    expect(refusalOf(decide(payment, {}, after(HOUR_MS - 1)))).toBeNull();
    const late = decide(payment, {}, after(HOUR_MS));
    expect(late).toMatchObject({
      outcome: "refused",
      refusal: { code: "payment_expired" },
      changed: { facts: { status: "expired" } },
    });
    const expired = (late as Extract<Decision, { outcome: "refused" }>).changed!;
    expect(openOperation(expired)).toMatchObject({ kind: "void", idempotencyKey: null, amount: 1000n });
  });

  it("a capture is too late before it is too much", () => {
    const payment = authorizedPayment({ expiresAt: after(HOUR_MS) });
    expect(refusalOf(decide(payment, { amount: 9999n }, after(HOUR_MS)))).toBe("payment_expired");
  });

  it("a capture does not begin beside another open operation", () => {
    expect(refusalOf(decide(capturingPayment()))).toBe("capture_in_progress");
  });

  it("a capture that was not sent goes on in the same operation with the same gateway key", () => {
    const key = begin();
    const first = begunBy(decide(authorizedPayment(), { amount: 7n }, NOON, key));
    const unsent = notSent(first.payment, first.operationId, "refused", step());
    const again = begunBy(decide(unsent, { amount: 7n }, after(9), key));
    expect(again.operationId).toBe(first.operationId);
    expect(gatewayKey(openOperation(again.payment))).toBe(gatewayKey(openOperation(first.payment)));
    expect(openOperation(again.payment)).toMatchObject({ status: "started", firstSentAt: after(9) });
  });

  it("a capture that was declined leaves the payment to be captured under another key", () => {
    const declined = settled(capturingPayment(), declines("card says no"));
    expect(declined.facts.status).toBe("authorized");
    expect(declined.facts.operations.at(-1)).toMatchObject({
      status: "failed",
      failureCode: "capture_declined",
      failureReason: "card says no",
    });
    expect(capturedPayment(declined).facts.status).toBe("captured");
  });

  it("a capture that finds the authorization gone ends the payment, and owes a release", () => {
    const gone = settled(capturingPayment(), { outcome: "authorization_gone", reason: "gone" });
    expect(gone.facts.status).toBe("expired");
    expect(gone.facts.operations[1]).toMatchObject({ status: "failed", failureCode: "payment_expired" });
    expect(openOperation(gone)).toMatchObject({ kind: "void", idempotencyKey: null });
  });

  it("a capture keeps its gateway key through every resend", () => {
    const capturing = capturingPayment();
    const { id } = openOperation(capturing);
    const resent = claimResend(stillUnknown(capturing, id, "timeout", step()), id, step(after(9)));
    expect(gatewayKey(openOperation(resent))).toBe(gatewayKey(openOperation(capturing)));
    expect(openOperation(resent).firstSentAt).toEqual(openOperation(capturing).firstSentAt);
  });
});

describe("an answer that comes again", () => {
  it("an answer that comes again changes nothing where it says what is known", () => {
    const captured = capturedPayment();
    const { id } = captured.facts.operations[1]!;
    expect(settle(captured, id, succeeds("cap_1"), step())).toBe(captured);
  });

  it.each([
    ["succeeded", succeeds("cap_1"), declines()],
    ["failed", declines(), succeeds("cap_2")],
  ])("goes to a person where the operation has %s and it says otherwise", (_, first, second) => {
    const known = settled(capturingPayment(), first);
    const { id } = known.facts.operations[1]!;
    const doubted = settle(known, id, second, step());
    expect(operationOf(doubted, id)).toMatchObject({ status: "needs_review", conflicted: true });
    expect(doubted.newEvents.map(({ type }) => type).slice(-2)).toEqual([
      "operation.evidence_conflict",
      "operation.needs_review",
    ]);
  });
});

describe("the release of an expired payment", () => {
  it("the release of an expired payment does not show as a void to callers", () => {
    expect(visibleStatus(expiredPayment())).toBe("expired");
  });

  it("the release of an expired payment that is refused goes on under a new gateway key, sent for the first time again", () => {
    const expired = expiredPayment();
    const refused = settled(expired, declines("busy"), after(1));
    expect(openOperation(refused)).toMatchObject({ status: "unknown", n: 2, firstSentAt: null, attempts: 1 });
    expect(gatewayKey(openOperation(refused))).not.toBe(gatewayKey(openOperation(expired)));
  });

  it.each([succeeds("void_1"), { outcome: "authorization_gone", reason: "gone" } as const])(
    "the release of an expired payment is done when the gateway says %j",
    (answer) => {
      const done = settled(expiredPayment(), answer);
      expect(openOperationOf(done)).toBeUndefined();
      expect(done.facts.status).toBe("expired");
    },
  );
});

describe("an operation that was closed as never sent", () => {
  const unsent = () => {
    const capturing = capturingPayment();
    const { id } = openOperation(capturing);
    return { id, payment: notSent(capturing, id, "refused", step()) };
  };

  it("an operation that was closed as never sent and moved money after all, as the gateway says later, goes to a person", () => {
    const { id, payment } = unsent();
    // By then the payment may have gone on; what it is now cannot decide what happened.
    const voided = expiredPayment(payment);
    const released = settled(voided, succeeds("void_1"));
    const told = settle(released, id, succeeds("cap_1"), step());
    expect(operationOf(told, id)).toMatchObject({ status: "needs_review", conflicted: true });
    expect(amountCaptured(told)).toBe(0n);
  });

  it("an operation that was closed as never sent and was refused, as the gateway says later, stays as it is", () => {
    const { id, payment } = unsent();
    expect(settle(payment, id, declines(), step())).toBe(payment);
  });
});

describe("a declined authorization", () => {
  it("a declined authorization declines the payment, with the gateway's words", () => {
    const declined = settled(authorizingPayment(), declines("insufficient funds"));
    expect(declined.facts).toMatchObject({ status: "declined", authorizedAt: null });
    expect(declined.facts.operations[0]).toMatchObject({ failureReason: "insufficient funds" });
    expect(refusalOf(decide(declined))).toBe("payment_not_capturable");
  });
});
