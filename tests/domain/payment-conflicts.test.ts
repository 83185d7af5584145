import { isInReview } from "../../src/domain/operation";
import type { Payment } from "../../src/domain/payment";
import { PaymentError } from "../../src/domain/payment-errors";
import {
  after,
  authorizedPayment,
  begin,
  capturedPayment,
  newOperationId,
  NOON,
  step,
} from "../support/payments";

const gone = { outcome: "declined", reason: "it never happened" } as const;
const happened = { outcome: "succeeded", reference: "mv_1" } as const;

/** A verdict about the capture, while the gateway is silent. */
function decide(payment: Payment, outcome: "moved" | "not_moved"): Payment {
  const verdict = { outcome, evidence: "statement of 2 March", gatewayReference: null };
  const silence = { outcome: "unknown", reason: "no answer" } as const;
  return payment.resolveReview(captureOf(payment).id, verdict, silence, after(5_000), step());
}

function refunded(payment: Payment, amount: bigint): Payment {
  const decision = payment.decideRefund(begin(), { amount }, after(5_000), step());
  return decision.payment.settle(decision.operationId!, happened, newOperationId(), NOON, step());
}

function captureOf(payment: Payment) {
  return payment.facts.operations.find(({ kind }) => kind === "capture")!;
}

describe("an answer that contradicts the recorded one", () => {
  test("opens a capture again, for a person to decide", () => {
    const payment = capturedPayment(authorizedPayment(), 600n);
    const doubted = payment.settle(captureOf(payment).id, gone, newOperationId(), NOON, step());
    expect(captureOf(doubted)).toMatchObject({ status: "needs_review", conflicted: true });
    expect(doubted.newEvents.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["operation.evidence_conflict", "operation.needs_review"]),
    );
  });

  test("leaves a capture counted while refunds hang on it, and still asks a person", () => {
    const payment = refunded(capturedPayment(authorizedPayment(), 600n), 200n);
    const doubted = payment.settle(captureOf(payment).id, gone, newOperationId(), NOON, step());
    expect(captureOf(doubted).status).toBe("succeeded");
    expect(isInReview(captureOf(doubted))).toBe(true);
    expect(doubted.amountCaptured).toBe(600n);
    expect(doubted.amountRefunded).toBe(200n);
  });

  test("is not decided by a third answer", () => {
    const payment = capturedPayment(authorizedPayment(), 600n);
    const doubted = payment.settle(captureOf(payment).id, gone, newOperationId(), NOON, step());
    expect(doubted.settle(captureOf(doubted).id, happened, newOperationId(), NOON, step())).toBe(doubted);
  });
});

describe("a person's verdict", () => {
  test("that the money moved after all leaves the payment captured", () => {
    const payment = capturedPayment(authorizedPayment(), 600n);
    const doubted = payment.settle(captureOf(payment).id, gone, newOperationId(), NOON, step());
    const decided = decide(doubted, "moved");
    expect(decided.facts.status).toBe("captured");
    expect(captureOf(decided)).toMatchObject({ status: "succeeded", conflicted: false });
    expect(decided.newEvents.at(-1)).toMatchObject({ type: "review.resolved", data: { outcome: "moved" } });
  });

  test("that it did not leaves it authorized again", () => {
    const payment = capturedPayment(authorizedPayment(), 600n);
    const doubted = payment.settle(captureOf(payment).id, gone, newOperationId(), NOON, step());
    const decided = decide(doubted, "not_moved");
    expect(decided.facts.status).toBe("authorized");
    expect(captureOf(decided)).toMatchObject({ status: "failed", failureCode: "capture_declined" });
  });

  test("is refused where the payment could not be so: refunds hang on the capture", () => {
    const payment = refunded(capturedPayment(authorizedPayment(), 600n), 200n);
    const doubted = payment.settle(captureOf(payment).id, gone, newOperationId(), NOON, step());
    expect(() => decide(doubted, "not_moved")).toThrow(PaymentError);
    const kept = decide(doubted, "moved");
    expect(isInReview(captureOf(kept))).toBe(false);
  });

  test("is refused for an operation that nobody doubts", () => {
    const payment = capturedPayment(authorizedPayment(), 600n);
    expect(() => decide(payment, "moved")).toThrow(PaymentError);
  });
});
