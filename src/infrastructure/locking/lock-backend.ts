import type { LockHolder } from "../../application/ports/lock-provider";

/**
 * What an adapter outside this process has to know how to do: one attempt. Standing in line, the budget, back-off,
 * cancellation, re-entrancy and observers are the same for all of them and live in front of it.
 *
 * At most one attempt per resource id and process is under way, and none while this process holds that id.
 */
export interface LockBackend {
  /** Short name for events and metrics: `file`, `postgres`, `gcs`, … */
  readonly adapter: string;

  /**
   * One attempt, bounded by the backend's own request timeout. That somebody is inside is an answer, not an error. A
   * rejection means that the backend failed, and the attempt is made again within the caller's budget; a
   * `LockUnavailableError` made with `{ permanent: true }` (401, 403, no such bucket) ends the wait at once.
   * After an error it may be unknown whether the lock was taken: the next attempt has to recognize its own tenure.
   */
  attempt(resourceId: string, request: AttemptRequest): Promise<Attempt>;

  /** Calls back when a release of this id may have happened; returns how to stop listening. */
  onReleased?(resourceId: string, wake: () => void): () => void;

  /** Nobody in this process wants this id any more: give up whatever place `attempt` registered, in the background. */
  leave?(resourceId: string): void;

  /** The slots of one semaphore as one backend, whose attempts lend any of them. Absent: it lends no semaphores. */
  slots?(semaphore: Semaphore): LockBackend;

  /** Ends background work, and waits for it. */
  close(): Promise<void>;
}

export interface Semaphore {
  readonly resourceId: string;
  readonly permits: number;
  /** Says at which slot a search begins: 0 ≤ x < 1. */
  readonly random: () => number;
}

export interface AttemptRequest {
  readonly purpose?: string;
  /** False for timeout 0: the attempt must not register as a waiter. */
  readonly mayWait: boolean;
  /** Wants to wait as the next one or not at all. */
  readonly onlyNext?: boolean;
}

export type Attempt =
  | { readonly kind: "acquired"; readonly tenure: Tenure }
  | ({ readonly kind: "held"; readonly advice?: string } & Refusal)
  /** Held, and the single waiter's place is taken by a live waiter of another process. */
  | ({ readonly kind: "contended"; readonly waitingOwnerId: string } & Refusal);

export interface Refusal {
  readonly holder?: LockHolder;
  /** On the monotonic clock: when the answer is another one, if nothing happens until then. Absent: not known. */
  readonly turnMs?: number;
}

/** One acquisition, from its success to its release. */
export interface Tenure {
  readonly fencingToken: bigint;
  /** Of a semaphore: which of its slots, from 1. */
  readonly slot?: number;
  /** Fires with the reason (a string) when the lock is lost. */
  readonly lost: AbortSignal;
  /** Throws `LockLostError` unless held now, by the clocks. */
  assertHeld(): void;
  /** As `LockHold.aloneForMs`. Absent: without end. */
  aloneForMs?(): number;
  /**
   * Resolves when the backend has confirmed the release, or when it can no longer matter (the lease has ended). Never
   * rejects. The next attempt for this id waits for it, the caller of `withLock` does not.
   */
  release(): Promise<void>;
  /**
   * Instead of `release`: keeps others out for that much longer without this process, which may end as soon as this has
   * resolved, and releases nothing afterwards. Resolves and never rejects as `release`. Absent where a lock ends with its
   * process: there the process keeps it.
   */
  leaveFor?(restMs: number): Promise<void>;
  /** Asked at most once, when somebody observes this hold: tells what happens to it until its release. */
  observe?(tell: (happening: TenureHappening) => void): void;
}

export interface TenureHappening {
  readonly type: "renewed" | "handoff_requested";
}
