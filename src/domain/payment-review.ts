import type { OperationId } from "./identifiers";
import {
  isInReview,
  isOpen,
  isRelease,
  isReopenedByContradiction,
  progressed,
  type Operation,
  type OperationKind,
} from "./operation";
import { PaymentError } from "./payment-errors";
import type { Step } from "./payment-events";
import type { GatewayStatement, ReviewVerdict } from "./payment-facts";
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

/** What the key's caller is told from then on. The evidence is for operators. */
const DECIDED = "decided in review";

/** The operation, if a person may decide about it now. */
export function underReview(payment: PaymentRecord, id: OperationId): Operation {
  const operation = payment.must(id);
  if (!isInReview(operation)) {
    throw new PaymentError("operation_not_in_review", { operationId: id, operationStatus: operation.status });
  }
  // What the payment becomes by this verdict, the open one may not be able to settle in any more.
  const open = payment.openOperation;
  if (open !== undefined && open.id !== id) throw payment.inProgress(open);
  return operation;
}

/**
 * Ends an operation by what a person found out. Refused if the gateway says something else, unless the person says why
 * it is wrong, and if the payment could not be what it would become.
 */
export function resolveReview<P extends PaymentRecord>(
  payment: P,
  id: OperationId,
  verdict: ReviewVerdict,
  seen: GatewayStatement,
  dueAt: Date,
  step: Step,
): P {
  const operation = underReview(payment, id);
  const { outcome, evidence } = verdict;
  const overrideReason = verdict.overrideReason ?? null;
  const contradicted = contradicts(operation, verdict, seen);
  if (contradicted && overrideReason === null) {
    const { outcome: answer, ...said } = seen;
    throw new PaymentError("review_contradicts_gateway", {
      operationId: id,
      outcome,
      gateway: { answer, ...said },
    });
  }
  const told = {
    operationId: id,
    kind: operation.kind,
    outcome,
    evidence,
    ...(contradicted ? { overrideReason } : {}),
  };
  if (outcome === "pending") {
    const next = { dueAt, attempts: operation.attempts + 1 };
    return stillInReview(payment, id, next, null, step).withEvent("review.pending", step, told);
  }
  const moved = outcome === "moved";
  const reference = verdict.gatewayReference ?? referenceIn(seen) ?? operation.gatewayReference;
  const authorizationReference = payment.facts.authorizationReference ?? reference;
  if (operation.kind === "authorize" && moved && authorizationReference === null) {
    throw new PaymentError("gateway_reference_required", { operationId: id });
  }
  const decided = moved
    ? asSucceeded(payment, { ...operation, failureCode: null, failureReason: null }, reference, step)
    : asFailed(payment, operation, declinedCode(operation.kind), DECIDED, step);
  const believed = payment.withOperation(progressed(decided, { conflicted: false }), step);
  const status = statusByBelief.find(([, holds]) => holds(believed))?.[0] ?? payment.facts.status;
  const authorized = operation.kind === "authorize" && moved;
  const next = believed
    .changed({
      status,
      ...(authorized ? { authorizationReference, authorizedAt: payment.facts.authorizedAt ?? step.now } : {}),
    })
    .withEvent("review.resolved", step, { ...told, resolvedBy: "operator" });
  if (!isPossible(next, operation)) {
    throw new PaymentError("review_contradicts_payment", {
      paymentId: payment.id,
      paymentStatus: payment.facts.status,
      outcome: verdict.outcome,
    });
  }
  return withPendingReview(next, step);
}

/** The gateway was asked, and the review goes on. */
export function stillInReview<P extends PaymentRecord>(
  payment: P,
  id: OperationId,
  next: { readonly dueAt: Date; readonly attempts: number },
  news: string | null,
  step: Step,
): P {
  const operation = payment.must(id);
  // Where two answers contradict each other a third one decides nothing, so nobody asks for it.
  const isAskedAbout = isOpen(operation) && !isReopenedByContradiction(operation);
  const change = { askedAt: step.now, ...(isAskedAbout ? next : {}) };
  const asked = payment.withOperation(progressed(operation, change), step);
  if (news === null) return asked;
  return asked.withEvent("operation.needs_review", step, {
    operationId: id,
    kind: operation.kind,
    reason: news,
  });
}

/**
 * Whether what the gateway has recorded, or is still deciding, leaves no room for the verdict. Silence does, and so does
 * most of what does not fit: those are why a person is asked.
 */
function contradicts(operation: Operation, verdict: ReviewVerdict, seen: GatewayStatement): boolean {
  const { outcome } = verdict;
  switch (seen.outcome) {
    case "succeeded":
      return outcome !== "moved" || isOtherAuthorization(operation, verdict, seen.reference);
    case "authorization_gone":
      // Gone is what a release is for.
      return outcome !== (isRelease(operation) ? "moved" : "not_moved");
    case "declined":
      return outcome !== "not_moved";
    case "pending":
      return outcome !== "pending";
    case "mismatch":
      // Money that was taken was not let go, whoever took it.
      return seen.captured === true && operation.kind === "void" && outcome === "moved";
    case "absent":
    case "unknown":
      return false;
  }
}

/** Money would be captured under the reference that the person gave. */
function isOtherAuthorization(
  { kind }: Operation,
  { gatewayReference }: ReviewVerdict,
  reference: string | null,
): boolean {
  return (
    kind === "authorize" && gatewayReference !== null && reference !== null && gatewayReference !== reference
  );
}

function referenceIn(seen: GatewayStatement): string | null {
  return seen.outcome === "succeeded" ? seen.reference : null;
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
