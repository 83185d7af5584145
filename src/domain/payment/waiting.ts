import type { OperationId } from "../identifiers";
import { isRelease, progressed, type Operation } from "./operation";
import type { Payment } from "./payment";
import { broughtToReview } from "./record/doubts";
import { mustBeOpen } from "./record/operation-rows";
import { recorded, type Change } from "./record/recorded";
import type { Step } from "./step";

/**
 * Claims an open operation for one resend of its gateway key. It stays as due as it was, should the resend crash. Told in
 * the history where it was due: not each time that a caller is impatient.
 */
export function claimResend(payment: Payment, id: OperationId, step: Step): Payment {
  const operation = mustBeOpen(payment, id);
  const { kind, n, firstSentAt, status } = operation;
  if (status === "pending")
    throw new Error(`operation ${id} is pending: it is asked about, and not sent again`);
  const change: Change = {
    row: progressed(operation, { firstSentAt: firstSentAt ?? step.now }),
    status: payment.facts.status,
    history: step.schedule.isDue(operation) ? [[`${kind}.resent`, { operationId: id, n }]] : [],
  };
  return recorded(payment, change, step);
}

/**
 * The first send certainly did not reach the gateway: the operation is closed, and its key may try again. A void in place of
 * the customer is not: they may act any time, so it is owed.
 */
export function notSent(payment: Payment, id: OperationId, reason: string, step: Step): Payment {
  const operation = mustBeOpen(payment, id);
  if (isRelease(operation)) throw new Error(`release ${id} is owed, whatever became of a send`);
  if (operation.kind === "void" && payment.facts.status === "authorizing") {
    return stillUnknown(payment, id, reason, step);
  }
  const change: Change = {
    row: progressed(operation, { status: "not_sent", firstSentAt: null, dueAt: null }),
    status: payment.facts.status,
    history: [[`${operation.kind}.not_sent`, { operationId: id, reason }]],
  };
  return recorded(payment, change, step);
}

/**
 * The gateway was asked, or sent to, and its answer settles nothing. Only a question that was due uses up a step of the
 * schedule: impatient callers must not hurry an operation into review. After the last step a person has to look.
 */
export function stillUnknown(payment: Payment, id: OperationId, reason: string, step: Step): Payment {
  const operation = mustBeOpen(payment, id);
  const { schedule, now } = step;
  const wasDue = operation.askedAt !== null && schedule.isDue(operation);
  const attempts = wasDue ? operation.attempts + 1 : operation.attempts;
  const dueAt = nextQuestion(operation, { wasDue, attempts }, step);
  const asked = stillOpen(payment, operation, { attempts, dueAt: dueAt ?? now, reason }, step);
  if (dueAt !== null) return asked;
  const inVain = `the gateway gave no answer in ${attempts} attempts: ${reason}`;
  return needsReview(asked, id, { reason: inVain }, step);
}

/** It cannot be told from here, so a person has to look. Counts as open until one decides, or the gateway tells after all. */
export function needsReview(
  payment: Payment,
  id: OperationId,
  why: { readonly reason: string; readonly gatewayReference?: string | undefined },
  step: Step,
): Payment {
  const dueAt = step.schedule.nextInReview(0);
  return broughtToReview(payment, mustBeOpen(payment, id), { ...why, dueAt }, step);
}

function nextQuestion(
  operation: Operation,
  { wasDue, attempts }: { readonly wasDue: boolean; readonly attempts: number },
  { schedule }: Step,
): Date | null {
  if (isRelease(operation)) return schedule.nextRelease(attempts);
  if (wasDue || operation.dueAt === null || operation.askedAt === null)
    return schedule.nextQuestion(attempts);
  return operation.dueAt;
}

/** Told the first time, and when a step of the schedule was used up: so there are as many entries as it has steps. */
function stillOpen(
  payment: Payment,
  operation: Operation,
  next: { readonly attempts: number; readonly dueAt: Date; readonly reason: string },
  step: Step,
): Payment {
  const { attempts, dueAt, reason } = next;
  const { id, kind, status } = operation;
  const isNews = status !== "unknown" || attempts !== operation.attempts;
  const again = status === "unknown" ? { again: true } : {};
  const told = { operationId: id, reason, dueAt: dueAt.toISOString(), ...again };
  const change: Change = {
    row: progressed(operation, { status: "unknown", attempts, dueAt, askedAt: step.now }),
    status: payment.facts.status,
    history: isNews ? [[`${kind}.unknown`, told]] : [],
  };
  return recorded(payment, change, step);
}
