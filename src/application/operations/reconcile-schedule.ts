import type { Operation } from "../../domain/payment/operation";
import type { Schedule } from "../../domain/payment/step";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** When the gateway is asked again about an operation whose outcome is unknown; after the last, a person decides. */
export const reconcileScheduleMs: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  1 * HOUR,
  6 * HOUR,
];

/** When the gateway is asked again about what may take days: it has it and decides later, or a person has to; then daily. */
export const slowScheduleMs: readonly number[] = [5 * MINUTE, 1 * HOUR, 6 * HOUR, 24 * HOUR];

/** How long a gateway may take to decide what it has taken, if it says nothing else; then a person has to look. */
export const DECIDES_WITHIN_MS = 7 * 24 * HOUR;

/** For how long a customer is waited for. Banks' pages give up long before, and a shopper who comes back later starts anew. */
export const CUSTOMER_ACTS_WITHIN_MS = 1 * HOUR;

/** When the gateway is asked whether the customer has acted; then always at the last of these. */
export const customerScheduleMs: readonly number[] = [30 * SECOND, 1 * MINUTE, 2 * MINUTE, 5 * MINUTE];

/** Tolerated difference between the clocks of two machines. */
export const CLOCK_TOLERANCE_MS = 5 * SECOND;

/** Spreads what became due together, by up to a tenth, so that a gateway coming back is not hit by all at once. */
const JITTER = 0.1;

/** The next due time after `attempts` fruitless ones; null when the schedule is used up. */
export function nextDueAt(now: Date, attempts: number, random: () => number): Date | null {
  const delayMs = reconcileScheduleMs[attempts];
  if (delayMs === undefined) return null;
  return new Date(now.getTime() + Math.round(delayMs * (1 + JITTER * random())));
}

/** For as long as it lasts. */
export function nextSlowDueAt(now: Date, attempts: number, random: () => number): Date {
  return atLastStep(slowScheduleMs, now, attempts, random);
}

function atLastStep(scheduleMs: readonly number[], now: Date, attempts: number, random: () => number): Date {
  const delayMs = scheduleMs[Math.min(attempts, scheduleMs.length - 1)] as number;
  return new Date(now.getTime() + Math.round(delayMs * (1 + JITTER * random())));
}

/** Nobody waits for a release, so a gateway that is down for a day brings none of them before a person. */
const RELEASE_ATTEMPTS = 12;

/** As for the others, and then at the last interval: a day and a half in all. */
export function nextReleaseDueAt(now: Date, attempts: number, random: () => number): Date | null {
  if (attempts >= RELEASE_ATTEMPTS) return null;
  return nextDueAt(now, Math.min(attempts, reconcileScheduleMs.length - 1), random);
}

/** The schedules as a step of a payment goes by them. */
export function scheduleAt(
  now: Date,
  random: () => number,
  decidesWithinMs: number = DECIDES_WITHIN_MS,
): Schedule {
  return {
    nextQuestion: (attempts) => nextDueAt(now, attempts, random),
    nextRelease: (attempts) => nextReleaseDueAt(now, attempts, random),
    nextWhilePending: (attempts) => nextSlowDueAt(now, attempts, random),
    decidesBy: new Date(now.getTime() + decidesWithinMs),
    nextInReview: (attempts) => nextSlowDueAt(now, attempts, random),
    nextOfCustomer: (attempts) => atLastStep(customerScheduleMs, now, attempts, random),
    customersEnd: new Date(now.getTime() + CUSTOMER_ACTS_WITHIN_MS),
    isDue: (operation) => isDue(operation, now),
  };
}

/** No schedule has a step that is longer than a day, so nothing is due later than this. */
export const FARTHEST_DUE_MS = Math.round(24 * HOUR * (1 + JITTER)) + CLOCK_TOLERANCE_MS;

/** The last time that anything was done about it, by whatever clock. */
export function touchedAt({ askedAt, firstSentAt, createdAt }: OperationTimes): Date {
  return askedAt ?? firstSentAt ?? createdAt;
}

/**
 * Due when its time has come, or when its times cannot be true. A clock that was ahead when they were written, or that was set back
 * since, must not stop questions for as long as it was wrong.
 */
export function isDue(operation: OperationTimes, now: Date): boolean {
  const { dueAt } = operation;
  if (dueAt === null) return false;
  const nowMs = now.getTime();
  return (
    dueAt.getTime() <= nowMs ||
    dueAt.getTime() > nowMs + FARTHEST_DUE_MS ||
    touchedAt(operation).getTime() > nowMs + CLOCK_TOLERANCE_MS
  );
}

type OperationTimes = Pick<Operation, "askedAt" | "firstSentAt" | "createdAt" | "dueAt">;
