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

/** Spreads what became due together, by up to a tenth, so that a gateway coming back is not hit by all at once. */
const JITTER = 0.1;

/** The next due time after `attempts` fruitless ones; null when the schedule is used up. */
export function nextDueAt(now: Date, attempts: number, random: () => number): Date | null {
  const delayMs = reconcileScheduleMs[attempts];
  if (delayMs === undefined) return null;
  return new Date(now.getTime() + Math.round(delayMs * (1 + JITTER * random())));
}

/** A release has nobody to report to and no person to ask: it goes on at the last interval for ever. */
export function nextReleaseDueAt(now: Date, attempts: number, random: () => number): Date {
  const last = reconcileScheduleMs.length - 1;
  return nextDueAt(now, Math.min(attempts, last), random) as Date;
}
