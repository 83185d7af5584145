import type { LockObserver } from "./lock-observer";
import type { LockScope, LockTimeout, ResolvedLockTimeout } from "./lock-timeout";

/**
 * Lends a lock for the length of one critical section.
 *
 * Every adapter MUST
 * - serialize sections of one resource id, and let sections of different ids pass each other
 *   (`NoOpLockProvider` is the one declared exception: it excludes nobody);
 * - serve the callers of one process in the order in which they came;
 * - take ids literally: case, length, `../`, spaces and unicode make different ids;
 * - release after a normal end, a rejection and a synchronous throw alike;
 * - give back the section's own value or error unchanged; a failing release replaces neither;
 * - make exactly one attempt when the timeout is 0, and reject with `LockTimeoutError`
 *   (a lease whose place in line is taken by another live waiter: `LockContentionError`);
 * - leave no trace of a waiter that timed out (`LockTimeoutError`) or was cancelled (`LockCancelledError`),
 *   and never start the section of one that was told so;
 * - refuse, with `LockReentrancyError`, taking any id of the same provider while inside one of its still active holds:
 *   the alternative is a silent deadlock. Several ids go through `withLocks`;
 * - report a backend that does not answer as `LockUnavailableError`, never as contention;
 * - let a section's outcome stand: `withLock` itself never rejects with `LockLostError`. A finished capture must not be
 *   answered with an error because its lease ran out meanwhile; the store's version check has decided what is true.
 *
 * A section whose writes have no guard of their own MUST call `hold.assertHeld()` on the line before each of them, and
 * hand `hold.fencingToken` to a store that can check it.
 */
export interface LockProvider {
  withLock<T>(
    resourceId: string,
    criticalSection: (hold: LockHold) => T | PromiseLike<T>,
    options?: LockOptions,
  ): Promise<T>;
}

/** What a critical section may know about the lock it is inside of. */
export interface LockHold {
  readonly resourceId: string;
  /** Grows with each acquisition of this id; of a semaphore, with each acquisition of the same slot. No two holders get the same. */
  readonly fencingToken: bigint;
  /** Of a semaphore: which of its slots this holder has, from 1 to `permits`. */
  readonly slot?: number;
  /** How long this caller stood in line, in whole milliseconds. */
  readonly waitedMs: number;
  /** The holder when the wait began, if there was one and the adapter knows it. */
  readonly waitedFor?: LockHolder;
  /** Fires when the lock is lost. After a stall of the process it may fire late: `assertHeld` never does. */
  readonly signal: AbortSignal;
  /** Throws `LockLostError` unless the lock is held *now*, by the clocks and not by a timer. */
  assertHeld(): void;
  /**
   * For how long from now no other caller is let in, even if nothing more is heard from the backend; `Infinity` where the lock
   * ends only with its process. Grows again with each sign of life. For callers that have to end something in time: a lease
   * that cannot be renewed is known to end before it does.
   */
  aloneForMs(): number;
}

/** What can be told about the one who is inside. */
export interface LockHolder {
  /** Unique per tenure, where the adapter has such an id. */
  readonly ownerId?: string;
  readonly host?: string;
  readonly pid?: number;
  /** What it says it is doing (`LockOptions.purpose`). */
  readonly purpose?: string;
  readonly since?: Date;
}

export interface LockOptions {
  /** Picks the default timeout and labels metrics. */
  readonly scope?: LockScope;
  /** What others read about the holder, e.g. `capture`. */
  readonly purpose?: string;
  /** Outranks all configuration. */
  readonly timeout?: LockTimeout | ResolvedLockTimeout;
  /** Stops the wait. Has no effect once the section has begun. */
  readonly signal?: AbortSignal;
  /** Told of this acquisition only, beside the provider's own observer. */
  readonly observer?: LockObserver;
  /**
   * `behind` (default): the caller has its answer as soon as the section has settled, and the lock is given back behind
   * it. `await`: the answer comes when the backend has confirmed the release, or has failed to for two seconds. For
   * programs that exit right afterwards: a lock whose release was not sent stays held until its backend notices.
   */
  readonly release?: "behind" | "await";
  /**
   * Keeps others out until so many milliseconds after the acquisition, however early the section ends, and however it
   * ends. A lease is left in its record for the rest, so that the process may exit (others get in up to their margin
   * later: 2 s, or 3 % of the rest); any other lock ends with its process, so the process keeps it for the rest, and `close` and
   * `release: "await"` wait for that. A hand-off lock that is released early is left in its record in the same way.
   */
  readonly lockAtLeastFor?: number;
  /**
   * Makes the id a semaphore: so many holders may be inside at once, from 1 to 1024, each with a slot of its own. All callers
   * have to give the same number; who gives another one while a holder is inside is told so (`LockPermitsError`). A lock
   * of the same id, taken without `permits`, is a different lock.
   */
  readonly permits?: number;
  /** For `withLocks` alone, which takes several ids in one order for all: any other use would build deadlocks with it. */
  readonly alongside?: HeldAlongside;
}

/** What `withLocks` has so far: not to be refused as re-entry, and its waits count against the same budget. */
export interface HeldAlongside {
  /** By resource id. */
  readonly holds: ReadonlyMap<string, LockHold>;
  readonly waitedMs: number;
  /** Whether the section of all of them has begun: if it has not, none of them is kept for `lockAtLeastFor`. */
  hasBegun(): boolean;
}
