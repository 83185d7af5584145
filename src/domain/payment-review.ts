import type { OperationId } from "./identifiers";
import { isInReview, type OperationKind } from "./operation";
import { PaymentError } from "./payment-errors";
import type { Step } from "./payment-events";
import type { ReviewVerdict } from "./payment-facts";
import type { PaymentRecord } from "./payment-record";
import { asFailed, asSucceeded, declinedCode, withPendingReview } from "./payment-settlement";
import type { PaymentStatus } from "./payment-transitions";

type Landing = Partial<Record<PaymentStatus, PaymentStatus>>;

/**
 * Where a person's verdict leaves the payment. Wider than the transitions of ordinary life: the operation may have been
 * counted the other way before its answers contradicted each other, and the payment may have gone on since.
 */
export const reviewLandings: Record<OperationKind, Record<ReviewVerdict["outcome"], Landing>> = {
  authorize: {
    moved: { authorizing: "authorized", authorized: "authorized", declined: "authorized" },
    not_moved: { authorizing: "declined", authorized: "declined", declined: "declined" },
  },
  capture: {
    moved: { authorized: "captured", captured: "captured", expired: "captured", voided: "captured" },
    not_moved: { authorized: "authorized", captured: "authorized", expired: "expired", voided: "voided" },
  },
  void: {
    moved: { authorized: "voided", voided: "voided", expired: "expired" },
    not_moved: { authorized: "authorized", voided: "authorized", expired: "expired" },
  },
  refund: {
    moved: { captured: "captured" },
    not_moved: { captured: "captured" },
  },
};

/** Ends an operation by what a person found out. Refused if the payment could not be what it would become. */
export function resolveReview<P extends PaymentRecord>(
  payment: P,
  id: OperationId,
  verdict: ReviewVerdict,
  step: Step,
): P {
  const operation = payment.must(id);
  if (!isInReview(operation)) {
    throw new PaymentError("operation_not_in_review", { operationId: id, operationStatus: operation.status });
  }
  const moved = verdict.outcome === "moved";
  const reference = verdict.gatewayReference ?? operation.gatewayReference;
  const authorizationReference = payment.facts.authorizationReference ?? reference;
  if (operation.kind === "authorize" && moved && authorizationReference === null) {
    throw new PaymentError("gateway_reference_required", { operationId: id });
  }
  const reason = `a person decided: ${verdict.evidence}`;
  const decided = moved
    ? asSucceeded({ ...operation, failureCode: null, failureReason: null }, reference, step)
    : asFailed(operation, declinedCode(operation.kind), reason, step);
  const status = reviewLandings[operation.kind][verdict.outcome][payment.facts.status];
  const authorized = operation.kind === "authorize" && moved;
  const next = payment
    .withOperation({ ...decided, conflicted: false }, step)
    .changed({
      status: status ?? payment.facts.status,
      ...(authorized ? { authorizationReference, authorizedAt: payment.facts.authorizedAt ?? step.now } : {}),
    })
    .withEvent("review.resolved", step, {
      operationId: id,
      kind: operation.kind,
      outcome: verdict.outcome,
      evidence: verdict.evidence,
    });
  if (status === undefined || !isPossible(next)) {
    throw new PaymentError("review_contradicts_payment", {
      paymentId: payment.id,
      paymentStatus: payment.facts.status,
      outcome: verdict.outcome,
    });
  }
  return withPendingReview(next, step);
}

/** What the database would refuse, too: said here in words. */
function isPossible(payment: PaymentRecord): boolean {
  const captures = payment.facts.operations.filter(
    ({ kind, status }) => kind === "capture" && status === "succeeded",
  );
  return (
    captures.length <= 1 &&
    (captures.length === 1) === (payment.facts.status === "captured") &&
    payment.amountCaptured <= payment.facts.amount.amount &&
    payment.amountRefunded <= payment.amountCaptured
  );
}
