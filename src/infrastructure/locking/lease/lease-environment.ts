import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

import { systemLockClock, type LockClock } from "../lock-clock";

/**
 * Everything the lease protocol takes from outside besides the record store. It is an argument so that the simulator can
 * run the very same code on virtual time, with clocks that drift and processes that stall.
 */
export interface LeaseEnvironment {
  readonly clock: LockClock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Never the same twice, in any process. */
  readonly nonce: () => string;
  readonly host: string;
  readonly pid: number;
}

export const systemLeaseEnvironment: LeaseEnvironment = {
  clock: systemLockClock,
  random: () => Math.random(),
  nonce: () => randomBytes(9).toString("base64url"),
  host: hostname(),
  pid: process.pid,
};

/** One moment by both clocks of this process. */
export interface Instant {
  /** Never set, never steps back; may stand still while the machine sleeps. */
  readonly monotonicMs: number;
  /** Goes on while the machine sleeps; may be wrong, and may be set. */
  readonly wallMs: number;
}

export function instant(clock: LockClock): Instant {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

/** Resolves after `delayMs` or, sooner, when `wake` fires. */
export function pause(clock: LockClock, delayMs: number, wake?: AbortSignal): Promise<void> {
  if (wake?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      wake?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(Math.max(0, delayMs), end);
    wake?.addEventListener("abort", end);
  });
}
