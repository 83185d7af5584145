import type { OperationId } from "./identifiers";
import { isInReview, isRelease, type Operation, type OperationKind } from "./operation";
import { PaymentError } from "./payment-errors";
import type { Step } from "./payment-events";
import type { ReviewVerdict } from "./payment-facts";
import type { PaymentRecord } from "./payment-record";
import { asFailed, asSucceeded, declinedCode, withPendingReview } from "./payment-settlement";
import type { PaymentStatus } from "./payment-transitions";

/**
 * What a payment is, by what is believed to have happened to it: the first that holds. Wider than the transitions of
 * ordinary life, because the operation may have been counted the other way before its answers contradicted each other,
 * and the payment may have gone on since.
 */
const statusByBelief: readonly (readonly [PaymentStatus, (payment: PaymentRecord) => boolean])[] = [
  ["captured", (payment) => hasSucceeded(payment, "capture")],
  // Time has passed, or the gateway has let go: no verdict about an operation brings that back.
  ["expired", ({ facts }) => facts.status === "expired"],
  ["declined", (payment) => !hasSucceeded(payment, "authorize")],
  ["voided", (payment) => hasSucceeded(payment, "void")],
  ["authorized", () => true],
];

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
  const believed = payment.withOperation({ ...decided, conflicted: false }, step);
  const status = statusByBelief.find(([, holds]) => holds(believed))?.[0] ?? payment.facts.status;
  const authorized = operation.kind === "authorize" && moved;
  const next = believed
    .changed({
      status,
      ...(authorized ? { authorizationReference, authorizedAt: payment.facts.authorizedAt ?? step.now } : {}),
    })
    .withEvent("review.resolved", step, {
      operationId: id,
      kind: operation.kind,
      outcome: verdict.outcome,
      evidence: verdict.evidence,
    });
  if (!isPossible(next, operation)) {
    throw new PaymentError("review_contradicts_payment", {
      paymentId: payment.id,
      paymentStatus: payment.facts.status,
      outcome: verdict.outcome,
    });
  }
  return withPendingReview(next, step);
}

/** What the database would refuse, too, and what no gateway does: said here in words. */
function isPossible(payment: PaymentRecord, decided: Operation): boolean {
  const captures = payment.facts.operations.filter(
    ({ kind, status }) => kind === "capture" && status === "succeeded",
  );
  const isCaptured = captures.length > 0;
  return (
    captures.length <= 1 &&
    (!isCaptured || hasSucceeded(payment, "authorize")) &&
    // What was captured cannot have been let go; a release that was owed for it found nothing.
    !(isCaptured && decided.kind === "void" && hasSucceeded(payment, "void")) &&
    payment.amountCaptured <= payment.facts.amount.amount &&
    payment.amountRefunded <= payment.amountCaptured
  );
}

/** A release lets money go, too, but what the payment is was decided before it. */
function hasSucceeded({ facts }: PaymentRecord, kind: OperationKind): boolean {
  return facts.operations.some(
    (operation) => operation.kind === kind && operation.status === "succeeded" && !isRelease(operation),
  );
}
