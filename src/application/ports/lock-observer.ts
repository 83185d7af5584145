import type { LockHolder } from "./lock-provider";
import type { LockScope } from "./lock-timeout";

/**
 * Hears what happens to acquisitions and holds. Called synchronously from the lock's own path, so it MUST be quick and
 * MUST NOT block; whatever it throws is ignored and changes nothing.
 */
export interface LockObserver {
  notify(event: LockEvent): void;
}

export interface LockEventFacts {
  readonly resourceId: string;
  /** The adapter's short name: `memory`, `file`, `postgres`, `gcs`, … */
  readonly adapter: string;
  readonly scope?: LockScope;
  readonly purpose?: string;
  /** Since the wait began; for `renewed`, `lost`, `handoff_requested` and `released`: since the lock was acquired. */
  readonly elapsedMs: number;
  /** What is left of the wait's budget. Absent when the wait is infinite, or over. */
  readonly remainingMs?: number;
  /** Who is inside, where the adapter can tell. */
  readonly holder?: LockHolder;
  /** Why the last attempt got no answer. Then nothing is known of a holder, or it is what was known before. */
  readonly failure?: string;
}

/** What happened, without whom it happened to. */
export type LockHappening =
  | { readonly type: "wait_started" }
  | { readonly type: "retried"; readonly attempt: number }
  /** At most once a second while waiting. */
  | { readonly type: "progressed" }
  | { readonly type: "acquired"; readonly fencingToken: bigint; readonly contended: boolean }
  | { readonly type: "timed_out" }
  | { readonly type: "cancelled" }
  /** The wait ended because the backend does not answer, or because callers disagree about `permits`. */
  | { readonly type: "unavailable"; readonly reason: string }
  | { readonly type: "renewed" }
  | { readonly type: "lost"; readonly reason: string }
  | { readonly type: "handoff_requested" }
  /** The section has ended, and others are kept out for that much longer (`lockAtLeastFor`). `released` follows at once. */
  | { readonly type: "kept"; readonly forMs: number }
  | { readonly type: "released" };

export type LockEvent = LockEventFacts & LockHappening;

export type LockEventType = LockEvent["type"];
