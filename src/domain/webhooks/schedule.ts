const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** How long each attempt comes after the one before. The first is made at once. */
export const DELIVERY_STEPS_MS: readonly number[] = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
/** So that endpoints that failed together do not come back together. */
export const JITTER = 0.2;
/** After so long with failures and nothing else an endpoint is taken for dead. */
export const DISABLED_AFTER_MS = 5 * 24 * HOUR;

export interface FailedAttempt {
  /** Of this delivery, the one that just failed included. */
  readonly attempts: number;
  readonly at: Date;
  /** What the receiver asked for, if it did. */
  readonly retryAfterMs: number | null;
}

/** Null when the schedule is used up. `random`: from 0 to 1. */
export function nextAttemptAt(
  { attempts, at, retryAfterMs }: FailedAttempt,
  random: () => number,
): Date | null {
  const stepMs = DELIVERY_STEPS_MS[attempts];
  if (stepMs === undefined) return null;
  const jitteredMs = stepMs * (1 - JITTER + 2 * JITTER * random());
  // A receiver may ask for patience; one that asks for a year must not keep its events for a year.
  const askedMs = Math.min(retryAfterMs ?? 0, 2 * stepMs);
  return new Date(at.getTime() + Math.round(Math.max(jitteredMs, askedMs)));
}

/** `failingSince`: of its first failure after which nothing succeeded. */
export function isDead(failingSince: Date, now: Date): boolean {
  return now.getTime() - failingSince.getTime() >= DISABLED_AFTER_MS;
}
