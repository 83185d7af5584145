import type { ReviewVerdict } from "../../../src/domain/payment/facts";
import { resolveReview, underReview } from "../../../src/domain/payment/review";
import { capturedPayment, forged, forgedOperation, step } from "../../support/worlds/payments";

const verdict = (outcome: ReviewVerdict["outcome"]): ReviewVerdict => ({
  outcome,
  evidence: "seen",
  gatewayReference: null,
});

describe("a verdict", () => {
  const captured = capturedPayment();
  const operations = captured.facts.operations.map((one) =>
    one.kind === "capture" ? { ...one, conflicted: true } : one,
  );
  const refund = forgedOperation(captured, { kind: "refund", status: "unknown", amount: 100n });
  const busy = forged(captured, { operations: [...operations, refund] });
  const free = forged(captured, { operations });
  const capture = operations.find(({ kind }) => kind === "capture")!;

  it.each(["moved", "not_moved", "pending"] as const)(
    "%s waits while another operation of the payment is open, which could not be settled any more",
    (outcome) => {
      const decide = () =>
        resolveReview(busy, capture.id, { verdict: verdict(outcome), seen: { outcome: "absent" } }, step());
      expect(decide).toThrow(expect.objectContaining({ code: "refund_in_progress" }));
      expect(() => underReview(busy, capture.id)).toThrow(
        expect.objectContaining({ code: "refund_in_progress" }),
      );
    },
  );

  it.each(["moved", "not_moved", "pending"] as const)("%s is taken when nothing else is open", (outcome) => {
    const decided = resolveReview(
      free,
      capture.id,
      { verdict: verdict(outcome), seen: { outcome: "absent" } },
      step(),
    );
    expect(decided.newEvents.map(({ type }) => type)).toEqual([
      outcome === "pending" ? "review.pending" : "review.resolved",
    ]);
  });
});
