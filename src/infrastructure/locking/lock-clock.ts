import { uptime } from "node:os";

/** Time as locks need it. The simulation and the tests put virtual time here. */
export interface LockClock {
  /** Milliseconds from an arbitrary start, never going back. Bounds waits and leases. */
  monotonicMs(): number;
  /** Milliseconds since the Unix epoch. May jump: for people and for fencing tokens only. */
  wallMs(): number;
  /**
   * For how long the machine has slept, counted from an arbitrary start: it tells a wall clock that was set from a
   * monotonic clock that stood still. Missing where nothing tells; costs more than the others.
   */
  asleepMs?(): number;
  /** Calls back once, not before `delayMs` have passed; returns how to prevent it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** What setTimeout can count to; a longer delay fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemLockClock: LockClock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  // The system's uptime goes on while it sleeps.
  asleepMs: () => uptime() * 1_000 - performance.now(),
  after(delayMs, callback) {
    const dueMs = performance.now() + delayMs;
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const leftMs = dueMs - performance.now();
      // A timer counts whole milliseconds and may come up to one too early: a deadline must not.
      if (leftMs <= 0) callback();
      else timer = setTimeout(arm, Math.min(Math.ceil(leftMs), LONGEST_TIMER_MS));
    };
    timer = setTimeout(arm, Math.min(Math.ceil(delayMs), LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};
