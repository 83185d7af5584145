import type { LockObserver } from "../../application/ports/lock-observer";
import { builtInLockTimeouts, type LockTimeoutPolicy } from "../../application/ports/lock-timeout";
import { Deadlines } from "./line/deadlines";
import { systemLockClock, type LockClock } from "./lock-clock";

/** What each provider may be given. */
export interface LockProviderSettings {
  readonly timeouts?: LockTimeoutPolicy;
  readonly observer?: LockObserver;
  readonly clock?: LockClock;
  /** Spreads the back-off of those who wait for one lock: 0 ≤ x < 1. */
  readonly random?: () => number;
}

/** The same with nothing left open. */
export interface LockSettings {
  /** Short name for events and metrics. */
  readonly adapter: string;
  readonly timeouts: LockTimeoutPolicy;
  readonly observer: LockObserver | undefined;
  readonly clock: LockClock;
  readonly deadlines: Deadlines;
  readonly random: () => number;
}

export function lockSettings(adapter: string, given: LockProviderSettings): LockSettings {
  const clock = given.clock ?? systemLockClock;
  return {
    adapter,
    timeouts: given.timeouts ?? builtInLockTimeouts,
    observer: given.observer,
    clock,
    deadlines: new Deadlines(clock),
    random: given.random ?? Math.random,
  };
}
