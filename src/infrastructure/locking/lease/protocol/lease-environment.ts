import { hostname } from "node:os";

import { systemLockClock, type LockClock } from "../../lock-clock";
import { nonce } from "../../nonce";

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
  nonce: () => nonce(9),
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

interface Interruption {
  readonly isCalled: boolean;
  onCalled(listener: () => void): () => void;
}

/** Resolves after `delayMs`, or as soon as there is an interruption. */
export function pause(clock: LockClock, delayMs: number, stop?: Interruption): Promise<void> {
  if (stop?.isCalled === true) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel = clock.after(Math.max(0, delayMs), () => {
      forget?.();
      resolve();
    });
    const forget = stop?.onCalled(() => {
      cancel();
      resolve();
    });
  });
}
