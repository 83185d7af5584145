import type { OperationId } from "../identifiers";
import type { EventData } from "./events";
import { sendCustomer } from "./customer/customer-action";
import type { CustomerAction, GatewayVerdict, SettledAnswer } from "./facts";
import { isOpen, isRelease, progressed, type Operation } from "./operation";
import type { Payment } from "./payment";
import { broughtToReview, contradicted, withConflict, withPendingReview } from "./record/doubts";
import {
  asFailed,
  asSucceeded,
  declinedCodes,
  mustBeOpen,
  mustHave,
  withRelease,
} from "./record/operation-rows";
import { after, recorded, type Change } from "./record/recorded";
import { forgottenWhilePending, silentWhilePending, takenByGateway } from "./later/pending";
import { withMovement } from "./picture/movement-elsewhere";
import type { Step } from "./step";
import { needsReview, stillUnknown } from "./waiting";

type Success = Extract<SettledAnswer, { outcome: "succeeded" }>;
type Refusal = Exclude<SettledAnswer, Success>;

/** Writes down what a question or a send came to, whatever it is. */
export function applyVerdict(
  payment: Payment,
  id: OperationId,
  verdict: GatewayVerdict,
  step: Step,
): Payment {
  // A customer is at the page: that the gateway has nothing else to say is known.
  const isAtPage = mustHave(payment, id).status === "requires_action";
  if (isAtPage && isNoNews(verdict)) return payment;
  switch (verdict.outcome) {
    case "requires_action":
      return waitsOrNot(payment, id, verdict, step);
    case "unknown":
      if (isPending(payment, id)) return silentWhilePending(payment, id, verdict.reason, step);
      return isWaitedFor(payment, id) ? stillUnknown(payment, id, verdict.reason, step) : payment;
    case "pending":
      return isWaitedFor(payment, id) ? takenByGateway(payment, id, verdict, step) : payment;
    case "absent":
      return isPending(payment, id) ? forgottenWhilePending(payment, id, step) : payment;
    case "mismatch": {
      const why = { reason: verdict.evidence, gatewayReference: verdict.reference };
      return isWaitedFor(payment, id) ? needsReview(payment, id, why, step) : payment;
    }
    case "succeeded":
    case "declined":
    case "authorization_gone":
      return settle(payment, id, verdict, step);
  }
}

function isNoNews({ outcome }: GatewayVerdict): boolean {
  return outcome === "unknown" || outcome === "pending" || outcome === "absent";
}

/** Only an authorization has a customer at hand. */
function waitsOrNot(payment: Payment, id: OperationId, action: CustomerAction, step: Step): Payment {
  if (!isWaitedFor(payment, id)) return payment;
  return mustHave(payment, id).kind === "authorize"
    ? sendCustomer(payment, id, action, step)
    : stillUnknown(payment, id, "the gateway wants the customer to act", step);
}

/**
 * Applies an answer recorded for the operation's key. One that is not open stays as it is: the same answer again changes
 * nothing, another one is a contradiction that a person has to look at. So is a success of what was not sent, as far as
 * this service knew: the payment may have gone on since.
 */
export function settle(payment: Payment, id: OperationId, answer: SettledAnswer, step: Step): Payment {
  const operation = mustHave(payment, id);
  // Two answers have been recorded already; a third one cannot decide between them.
  if (operation.conflicted) return payment;
  if (!isOpen(operation)) {
    return isKnown(operation, answer) ? payment : contradicted(payment, operation, answer, step);
  }
  if (isRelease(operation)) return settleRelease(payment, operation, answer, step);
  const settled =
    answer.outcome === "succeeded"
      ? succeeded(payment, operation, answer, step)
      : failed(payment, operation, answer, step);
  return withPendingReview(withReviewEnded(settled, operation, step), step);
}

/**
 * For an answer that this payment cannot have, or that no store takes: kept for a person, or it would be asked for, and
 * be in vain, for ever.
 */
export function unappliable(
  payment: Payment,
  id: OperationId,
  { answer, why }: { readonly answer: SettledAnswer; readonly why: string },
  step: Step,
): Payment {
  const operation = mustHave(payment, id);
  if (operation.conflicted) return payment;
  if (!isOpen(operation)) return withConflict(payment, operation, answer, step);
  const gatewayReference = answer.outcome === "succeeded" ? (answer.reference ?? undefined) : undefined;
  const reason = `the gateway answered ${answer.outcome}, which cannot be recorded: ${why}`;
  const conflicted = progressed(operation, { conflicted: true });
  return broughtToReview(payment, conflicted, { reason, dueAt: null, gatewayReference }, step);
}

function succeeded(payment: Payment, operation: Operation, answer: Success, step: Step): Payment {
  const { id, kind } = operation;
  const { reference } = answer;
  const amount = Number(operation.amount);
  const row = asSucceeded(payment, operation, reference, step);
  const told = [`${kind}.succeeded`, { operationId: id, amount }] as const;
  const status = after(payment, `${kind}.succeeded`);
  switch (kind) {
    case "authorize": {
      const wanted = payment.facts.expiresAt;
      const authorized = ["payment.authorized", { expiresAt: wanted.toISOString() }] as const;
      const { expiresAt, history } = withinItsTime(wanted, answer.expiresAt);
      const facts = { authorizedAt: step.now, authorizationReference: reference, expiresAt };
      return recorded(payment, { row, status, facts, history: [told, authorized, ...history] }, step);
    }
    case "capture":
      return recorded(payment, { row, status, history: [told, ["payment.captured", { amount }]] }, step);
    case "void":
      return recorded(payment, { row, status, history: [told, ["payment.voided", {}]] }, step);
    case "refund":
      return recorded(payment, { row, status, history: [told] }, step);
  }
}

/** What the gateway lets go of by itself cannot be captured later, whatever the caller has asked for. */
export function withinItsTime(
  wanted: Date,
  gatewaysEnd: Date | undefined,
): { readonly expiresAt: Date } & Pick<Change, "history"> {
  if (gatewaysEnd === undefined || gatewaysEnd >= wanted) return { expiresAt: wanted, history: [] };
  const told = {
    wanted: wanted.toISOString(),
    expiresAt: gatewaysEnd.toISOString(),
    reason: "the gateway keeps the money no longer",
  };
  return { expiresAt: gatewaysEnd, history: [["payment.expiry_shortened", told]] };
}

function failed(payment: Payment, operation: Operation, answer: Refusal, step: Step): Payment {
  const { id, kind } = operation;
  const { reason } = answer;
  if (kind === "capture" && answer.outcome === "authorization_gone" && answer.cancelled === true)
    return cancelledElsewhere(payment, operation, reason, step);
  const gone = answer.outcome === "authorization_gone" && (kind === "capture" || kind === "void");
  const code = gone ? "payment_expired" : declinedCodes[kind];
  const row = asFailed(payment, operation, { code, reason }, step);
  const told = [`${kind}.failed`, { operationId: id, failureCode: code, reason }] as const;
  if (gone) {
    const status = after(payment, "authorization.gone");
    const history = [told, ["payment.expired", { reason }]] as const;
    return withRelease(recorded(payment, { row, status, history }, step), step);
  }
  if (kind === "authorize") {
    const status = after(payment, "authorize.failed");
    return recorded(payment, { row, status, history: [told, ["payment.declined", { reason }]] }, step);
  }
  if (payment.facts.status === "authorizing") {
    // A void in place of the customer. There is no way back to waiting, so the money is let go by a release.
    const status = after(payment, "authorize.failed");
    const history = [told, ["payment.declined", { reason }]] as const;
    return withRelease(recorded(payment, { row, status, history }, step), step);
  }
  return recorded(payment, { row, status: payment.facts.status, history: [told] }, step);
}

/** Others let the money go: nothing of it expired, and there is nothing left that a release could let go. */
function cancelledElsewhere(payment: Payment, operation: Operation, reason: string, step: Step): Payment {
  const { id, kind } = operation;
  const code = declinedCodes[kind];
  const row = asFailed(payment, operation, { code, reason }, step);
  const history = [[`${kind}.failed`, { operationId: id, failureCode: code, reason }]] as const;
  const refused = recorded(payment, { row, status: payment.facts.status, history }, step);
  const { amount, authorizationReference } = payment.facts;
  const reference = authorizationReference ?? payment.facts.id;
  return withMovement(refused, "void", { reference, amount: amount.amount, operationId: null }, step);
}

/** No caller waits for a release, so a refusal does not end it; and gone is what it is for. */
function settleRelease(payment: Payment, operation: Operation, answer: SettledAnswer, step: Step): Payment {
  if (answer.outcome === "declined") return refusedRelease(payment, operation, answer.reason, step);
  const reference = answer.outcome === "succeeded" ? answer.reference : null;
  const change: Change = {
    row: asSucceeded(payment, operation, reference, step),
    status: after(payment, "release.succeeded"),
    history: [["void.succeeded", { operationId: operation.id, release: true }]],
  };
  const released = recorded(payment, change, step);
  return withPendingReview(withReviewEnded(released, operation, step), step);
}

/** Ends a release of money that was taken: no try of it can let anything go. */
export function releaseInVain(payment: Payment, id: OperationId, reason: string, step: Step): Payment {
  const operation = mustBeOpen(payment, id);
  const failureCode = declinedCodes.void;
  const change: Change = {
    row: asFailed(payment, operation, { code: failureCode, reason }, step),
    status: payment.facts.status,
    history: [["void.failed", { operationId: id, release: true, failureCode, reason }]],
  };
  const ended = recorded(payment, change, step);
  return withPendingReview(withReviewEnded(ended, operation, step), step);
}

/** The next try has a key of its own. After the last one a person has to hear of money that cannot be let go. */
function refusedRelease(payment: Payment, operation: Operation, reason: string, step: Step): Payment {
  // That it is refused is why the person was asked.
  if (operation.status === "needs_review") return payment;
  const { id, n, attempts } = operation;
  const { status } = payment.facts;
  const told: EventData = { operationId: id, release: true, reason };
  const dueAt = step.schedule.nextRelease(attempts);
  if (dueAt === null) {
    const inVain = `the money was not let go in ${attempts + 1} attempts: ${reason}`;
    const refused = recorded(payment, { row: operation, status, history: [["void.failed", told]] }, step);
    return broughtToReview(refused, operation, { reason: inVain, dueAt: step.now }, step);
  }
  const again = {
    n: n + 1,
    attempts: attempts + 1,
    firstSentAt: null,
    askedAt: step.now,
    dueAt,
    decidesBy: null,
  };
  const change: Change = {
    row: progressed(operation, { status: "unknown", ...again }),
    status,
    history: [["void.failed", { ...told, nextKey: again.n }]],
  };
  return recorded(payment, change, step);
}

/** The movement's own event tells what came of it; this one, that no person has to look any more. */
function withReviewEnded(payment: Payment, before: Operation, step: Step): Payment {
  if (before.status !== "needs_review") return payment;
  const { id, kind } = before;
  const row = mustHave(payment, id);
  const outcome = row.status === "succeeded" ? "moved" : "not_moved";
  const told = { operationId: id, kind, outcome, resolvedBy: "gateway" };
  return recorded(payment, { row, status: payment.facts.status, history: [["review.resolved", told]] }, step);
}

function isKnown(operation: Operation, answer: SettledAnswer): boolean {
  return isRelease(operation) || (operation.status === "succeeded") === (answer.outcome === "succeeded");
}

/** In review a person waits, and only an answer ends that. */
function isWaitedFor(payment: Payment, id: OperationId): boolean {
  const operation = mustHave(payment, id);
  return isOpen(operation) && operation.status !== "needs_review";
}

function isPending(payment: Payment, id: OperationId): boolean {
  return mustHave(payment, id).status === "pending";
}
