import type { OperationId } from "../identifiers";
import { DECIDED_IN_REVIEW, PaymentError } from "./errors";
import type { GatewayStatement, PaymentFacts, ReviewVerdict } from "./facts";
import {
  isInReview,
  isOpen,
  isRelease,
  isReopenedByContradiction,
  progressed,
  type Operation,
  type OperationKind,
} from "./operation";
import { amountCaptured, amountRefunded, inProgress, openOperationOf, type Payment } from "./payment";
import { withPendingReview } from "./record/doubts";
import { asFailed, asSucceeded, declinedCodes, mustHave } from "./record/operation-rows";
import { recorded, withRow, type Change, type Entry } from "./record/recorded";
import type { Step } from "./step";
import type { PaymentStatus } from "./transitions";

/**
 * What a payment is, by what is believed to have happened to it: the first that holds. Wider than the transitions of
 * ordinary life, because the operation may have been counted the other way before its answers contradicted each other,
 * and the payment may have gone on since.
 */
const statusByBelief: readonly (readonly [PaymentStatus, (facts: PaymentFacts) => boolean])[] = [
  ["captured", (facts) => hasSucceeded(facts, "capture")],
  // Time has passed, or the gateway has let go: no verdict about an operation brings that back.
  ["expired", ({ status }) => status === "expired"],
  // By a void in place of the customer.
  ["voided", (facts) => !hasSucceeded(facts, "authorize") && hasSucceeded(facts, "void")],
  ["declined", (facts) => !hasSucceeded(facts, "authorize")],
  ["voided", (facts) => hasSucceeded(facts, "void")],
  ["authorized", () => true],
];

function believedStatus(facts: PaymentFacts): PaymentStatus {
  return statusByBelief.find(([, holds]) => holds(facts))?.[0] ?? facts.status;
}

/** The operation, if a person may decide about it now. */
export function underReview(payment: Payment, id: OperationId): Operation {
  const operation = mustHave(payment, id);
  if (!isInReview(operation)) {
    throw new PaymentError("operation_not_in_review", { operationId: id, operationStatus: operation.status });
  }
  // What the payment becomes by this verdict, the open one may not be able to settle in any more.
  const open = openOperationOf(payment);
  if (open !== undefined && open.id !== id) throw inProgress(payment, open);
  return operation;
}

interface Resolution {
  readonly verdict: ReviewVerdict;
  readonly seen: GatewayStatement;
  readonly isDoubted?: boolean;
}

/**
 * Ends an operation by what a person found out. Refused if the gateway says something else, unless the person says why
 * it is wrong, and if the payment could not be what it would become. `seen` is what the gateway said about it just now;
 * `isDoubted`: beside that, its view of the whole payment contradicts the verdict.
 */
export function resolveReview(
  payment: Payment,
  id: OperationId,
  { verdict, seen, isDoubted = false }: Resolution,
  step: Step,
): Payment {
  const operation = underReview(payment, id);
  const told = toldOf(operation, { verdict, seen, isDoubted });
  if (verdict.outcome === "pending") return stillPending(payment, operation, ["review.pending", told], step);
  const { row, facts } = decidedRow(payment, operation, { verdict, seen }, step);
  const status = believedStatus({ ...payment.facts, operations: withRow(payment.facts.operations, row) });
  const entry: Entry = ["review.resolved", { ...told, resolvedBy: "operator" }];
  const decided = recorded(payment, { row, status, facts, history: [entry] }, step);
  if (!isPossible(decided, operation)) {
    const { id: paymentId, status: paymentStatus } = payment.facts;
    const { outcome } = verdict;
    throw new PaymentError("review_contradicts_payment", { paymentId, paymentStatus, outcome });
  }
  return withPendingReview(decided, step);
}

/**
 * The gateway was asked about what is in review, and its answer ends nothing. Only a question that was due uses up a step
 * of the schedule. Told only if it shows something new.
 */
export function stillInReview(payment: Payment, id: OperationId, news: string | null, step: Step): Payment {
  const operation = mustHave(payment, id);
  const { attempts, dueAt, kind } = operation;
  const { isDue, nextInReview } = step.schedule;
  const next = isDue(operation)
    ? { attempts: attempts + 1, dueAt: nextInReview(attempts + 1) }
    : { attempts, dueAt: dueAt ?? nextInReview(attempts) };
  const change: Change = {
    row: asked(operation, next, step),
    status: payment.facts.status,
    history:
      news === null ? [] : [["operation.needs_review", { operationId: id, kind, reason: news, again: true }]],
  };
  return recorded(payment, change, step);
}

/** "Still pending" puts the next question off to the longest step of the schedule. */
const LONGEST_STEP = Number.POSITIVE_INFINITY;

function stillPending(payment: Payment, operation: Operation, entry: Entry, step: Step): Payment {
  const next = {
    attempts: operation.attempts + 1,
    dueAt: step.schedule.nextInReview(LONGEST_STEP),
  };
  const change = { row: asked(operation, next, step), status: payment.facts.status, history: [entry] };
  return recorded(payment, change, step);
}

function asked(
  operation: Operation,
  next: { readonly attempts: number; readonly dueAt: Date },
  step: Step,
): Operation {
  // Where two answers contradict each other a third one decides nothing, so the gateway is not asked for it.
  const isAskedAbout = isOpen(operation) && !isReopenedByContradiction(operation);
  return progressed(operation, { askedAt: step.now, ...(isAskedAbout ? next : {}) });
}

/** What the history tells of the verdict. Throws if the gateway says otherwise and the person did not insist. */
function toldOf(operation: Operation, { verdict, seen, isDoubted = false }: Resolution) {
  const { id, kind } = operation;
  const { outcome, evidence } = verdict;
  const told = { operationId: id, kind, outcome, evidence };
  const isContradicted = contradicts(operation, verdict, seen);
  const overrideReason = verdict.overrideReason ?? null;
  // Of what has been contradicted before, too: it is what keeps the same contradiction from reopening it.
  const isOverriding = isContradicted || isDoubted || operation.conflicted;
  if (overrideReason !== null && isOverriding) return { ...told, overrideReason };
  if (!isContradicted) return told;
  const { outcome: answer, ...said } = seen;
  const gateway = { answer, ...said };
  throw new PaymentError("review_contradicts_gateway", { operationId: id, outcome, gateway });
}

function decidedRow(
  payment: Payment,
  operation: Operation,
  { verdict, seen }: { readonly verdict: ReviewVerdict; readonly seen: GatewayStatement },
  step: Step,
): { readonly row: Operation; readonly facts: NonNullable<Change["facts"]> } {
  if (verdict.outcome !== "moved") {
    const failure = { code: declinedCodes[operation.kind], reason: DECIDED_IN_REVIEW };
    const failed = asFailed(payment, operation, failure, step);
    return { row: progressed(failed, { conflicted: false }), facts: {} };
  }
  const reference = verdict.gatewayReference ?? referenceIn(operation, seen) ?? operation.gatewayReference;
  const unfailed = progressed(operation, { failureCode: null, failureReason: null });
  const row = progressed(asSucceeded(payment, unfailed, reference, step), { conflicted: false });
  if (operation.kind !== "authorize") return { row, facts: {} };
  const authorizationReference = payment.facts.authorizationReference ?? reference;
  if (authorizationReference === null) {
    throw new PaymentError("gateway_reference_required", { operationId: operation.id });
  }
  return { row, facts: { authorizationReference, authorizedAt: payment.facts.authorizedAt ?? step.now } };
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
    case "requires_action":
      return outcome !== "pending";
    case "mismatch":
      return outcome === "moved" && isRuledOut(operation, seen);
    case "absent":
    case "unknown":
      return false;
  }
}

/** Money that was taken was not let go, whoever took it; and a capture of another amount is not this one. */
function isRuledOut(
  { kind }: Operation,
  seen: Extract<GatewayStatement, { readonly outcome: "mismatch" }>,
): boolean {
  return (kind === "void" && seen.captured === true) || (kind === "capture" && seen.otherAmount === true);
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

/** Also a capture that carries no id of ours: by a person's word, it is this one. */
function referenceIn({ kind }: Operation, seen: GatewayStatement): string | null {
  if (seen.outcome === "mismatch") return kind === "capture" ? (seen.reference ?? null) : null;
  return seen.outcome === "succeeded" ? seen.reference : null;
}

/** What the database would refuse, too, and what no gateway does: said here in words. */
function isPossible(payment: Payment, decided: Operation): boolean {
  const captures = payment.facts.operations.filter(
    ({ kind, status }) => kind === "capture" && status === "succeeded",
  );
  const isCaptured = captures.length > 0;
  return (
    captures.length <= 1 &&
    (!isCaptured || hasSucceeded(payment.facts, "authorize")) &&
    // What was captured cannot have been let go; a release that was owed for it found nothing.
    !(isCaptured && decided.kind === "void" && hasSucceeded(payment.facts, "void")) &&
    amountCaptured(payment) <= payment.facts.amount.amount &&
    amountRefunded(payment) <= amountCaptured(payment)
  );
}

/** A release lets money go, too, but what the payment is was decided before it. */
function hasSucceeded({ operations }: PaymentFacts, kind: OperationKind): boolean {
  return operations.some(
    (operation) => operation.kind === kind && operation.status === "succeeded" && !isRelease(operation),
  );
}
