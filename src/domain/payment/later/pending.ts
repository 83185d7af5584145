import type { OperationId } from "../../identifiers";
import type { PendingAnswer } from "../facts";
import { isRelease, progressed, type Operation } from "../operation";
import type { Payment } from "../payment";
import { broughtToReview } from "../record/doubts";
import { mustBeOpen } from "../record/operation-rows";
import { recorded, type Change } from "../record/recorded";
import type { Step } from "../step";

/**
 * The gateway has taken the order, and says later what becomes of it. From here the operation is only asked about, and
 * never sent again: until the gateway decides, or until its own limit has passed and a person has to look.
 */
export function takenByGateway(
  payment: Payment,
  id: OperationId,
  answer: PendingAnswer,
  step: Step,
): Payment {
  const operation = mustBeOpen(payment, id);
  const { now, schedule } = step;
  const taken = progressed(operation, {
    gatewayReference: answer.reference ?? operation.gatewayReference,
    decidesBy: answer.decidesBy ?? operation.decidesBy ?? schedule.decidesBy,
  });
  if (operation.status === "pending") return stillPending(payment, taken, "it is still pending there", step);
  const row = progressed(taken, {
    status: "pending",
    attempts: 0,
    askedAt: now,
    dueAt: nextQuestion(taken, 0, step),
  });
  return recorded(payment, { row, status: payment.facts.status, history: [pendingEntry(row)] }, step);
}

/** The gateway was asked and did not answer: that it took the order is still true. */
export function silentWhilePending(payment: Payment, id: OperationId, reason: string, step: Step): Payment {
  return stillPending(payment, mustBeOpen(payment, id), reason, step);
}

/**
 * The gateway does not know the operation that it has taken. Once, that may be a list that is behind; when a question of
 * the schedule after the first one is answered so, too, no further one will tell more than a person can find out.
 */
export function forgottenWhilePending(payment: Payment, id: OperationId, step: Step): Payment {
  const operation = mustBeOpen(payment, id);
  const reason = "the gateway has answered pending, and now it does not know the operation";
  return operation.attempts > 0 && step.schedule.isDue(operation)
    ? broughtToReview(payment, operation, { reason, dueAt: step.schedule.nextInReview(0) }, step)
    : stillPending(payment, operation, reason, step);
}

/** Only a question that was due uses up a step of the schedule, and is told. */
function stillPending(payment: Payment, operation: Operation, reason: string, step: Step): Payment {
  const { now, schedule } = step;
  const limit = limitOf(operation, step);
  if (now >= limit) {
    const inVain = `the gateway has not decided by ${decidesBy(operation, step).toISOString()}: ${reason}`;
    return broughtToReview(payment, operation, { reason: inVain, dueAt: schedule.nextInReview(0) }, step);
  }
  const isDue = schedule.isDue(operation);
  const attempts = isDue ? operation.attempts + 1 : operation.attempts;
  const dueAt = isDue ? nextQuestion(operation, attempts, step) : operation.dueAt;
  const row = progressed(operation, { attempts, dueAt, askedAt: now });
  const history: Change["history"] = isDue ? [pendingEntry(row, { reason, again: true })] : [];
  return recorded(payment, { row, status: payment.facts.status, history }, step);
}

/** The last question is asked when the time is over, by the gateway's clock, too. */
function nextQuestion(operation: Operation, attempts: number, step: Step): Date {
  const next = step.schedule.nextWhilePending(attempts);
  const limit = limitOf(operation, step);
  return next < limit ? next : limit;
}

/** For the gateway's clock, which is another machine's. */
const CLOCK_GRACE_MS = 5 * 60_000;

function limitOf(operation: Operation, step: Step): Date {
  return new Date(decidesBy(operation, step).getTime() + CLOCK_GRACE_MS);
}

function decidesBy(operation: Operation, { schedule }: Step): Date {
  return operation.decidesBy ?? schedule.decidesBy;
}

function pendingEntry(row: Operation, more: object = {}): Change["history"][number] {
  const { id, kind, dueAt, decidesBy } = row;
  const told = {
    operationId: id,
    ...(isRelease(row) ? { release: true } : {}),
    dueAt: dueAt?.toISOString(),
    decidesBy: decidesBy?.toISOString(),
    ...more,
  };
  return [`${kind}.pending`, told];
}
