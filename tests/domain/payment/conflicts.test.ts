import { settle } from "../../../src/domain/payment/settlement";
import { decideRefund } from "../../../src/domain/payment/decide-movement";
import { resolveReview } from "../../../src/domain/payment/review";
import { isInReview } from "../../../src/domain/payment/operation";
import { amountRefunded, amountCaptured, type Payment } from "../../../src/domain/payment/payment";
import { PaymentError } from "../../../src/domain/payment/errors";
import { authorizedPayment, begin, begunBy, capturedPayment, step } from "../../support/worlds/payments";

const gone = { outcome: "declined", reason: "it never happened" } as const;
const happened = { outcome: "succeeded", reference: "mv_1" } as const;

/** A verdict about the capture, while the gateway is silent. */
function decide(payment: Payment, outcome: "moved" | "not_moved"): Payment {
  const verdict = { outcome, evidence: "statement of 2 March", gatewayReference: null };
  const silence = { outcome: "unknown", reason: "no answer" } as const;
  return resolveReview(payment, captureOf(payment).id, { verdict: verdict, seen: silence }, step());
}

function refunded(payment: Payment, amount: bigint): Payment {
  const decision = begunBy(decideRefund(payment, begin(), { amount }, step()));
  return settle(decision.payment, decision.operationId, happened, step());
}

function captureOf(payment: Payment) {
  return payment.facts.operations.find(({ kind }) => kind === "capture")!;
}

describe("an answer that contradicts the recorded one", () => {
  test("an answer that contradicts the recorded one opens a capture again, for a person to decide", () => {
    const payment = capturedPayment(authorizedPayment(), 600n);
    const doubted = settle(payment, captureOf(payment).id, gone, step());
    expect(captureOf(doubted)).toMatchObject({ status: "needs_review", conflicted: true });
    expect(doubted.newEvents.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["operation.evidence_conflict", "operation.needs_review"]),
    );
  });

  test("an answer that contradicts the recorded one leaves a capture counted while refunds hang on it, and still asks a person", () => {
    const payment = refunded(capturedPayment(authorizedPayment(), 600n), 200n);
    const doubted = settle(payment, captureOf(payment).id, gone, step());
    expect(captureOf(doubted).status).toBe("succeeded");
    expect(isInReview(captureOf(doubted))).toBe(true);
    expect(amountCaptured(doubted)).toBe(600n);
    expect(amountRefunded(doubted)).toBe(200n);
  });

  test("an answer that contradicts the recorded one is not decided by a third answer", () => {
    const payment = capturedPayment(authorizedPayment(), 600n);
    const doubted = settle(payment, captureOf(payment).id, gone, step());
    expect(settle(doubted, captureOf(doubted).id, happened, step())).toBe(doubted);
  });
});

describe("a person's verdict", () => {
  test("a person's verdict that the money moved after all leaves the payment captured", () => {
    const payment = capturedPayment(authorizedPayment(), 600n);
    const doubted = settle(payment, captureOf(payment).id, gone, step());
    const decided = decide(doubted, "moved");
    expect(decided.facts.status).toBe("captured");
    expect(captureOf(decided)).toMatchObject({ status: "succeeded", conflicted: false });
    expect(decided.newEvents.at(-1)).toMatchObject({ type: "review.resolved", data: { outcome: "moved" } });
  });

  test("a person's verdict that it did not leaves it authorized again", () => {
    const payment = capturedPayment(authorizedPayment(), 600n);
    const doubted = settle(payment, captureOf(payment).id, gone, step());
    const decided = decide(doubted, "not_moved");
    expect(decided.facts.status).toBe("authorized");
    expect(captureOf(decided)).toMatchObject({ status: "failed", failureCode: "capture_declined" });
  });

  test("a person's verdict is refused where the payment could not be so: refunds hang on the capture", () => {
    const payment = refunded(capturedPayment(authorizedPayment(), 600n), 200n);
    const doubted = settle(payment, captureOf(payment).id, gone, step());
    expect(() => decide(doubted, "not_moved")).toThrow(PaymentError);
    const kept = decide(doubted, "moved");
    expect(isInReview(captureOf(kept))).toBe(false);
  });

  test("a person's verdict is refused for an operation that nobody doubts", () => {
    const payment = capturedPayment(authorizedPayment(), 600n);
    expect(() => decide(payment, "moved")).toThrow(PaymentError);
  });
});
