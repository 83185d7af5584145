import type { LockHolder } from "./lock-provider";

/**
 * Looks at locks from outside, for people. An adapter MUST NOT take a lock to look at it, and MUST NOT change anything
 * but by `break` and `sweep`.
 */
export interface LockInspector {
  /** In the order of their ids. */
  list(): Promise<readonly InspectedLock[]>;
  /** Null if there is no trace of it: it was never taken, or is free. */
  show(resourceId: string): Promise<InspectedLock | null>;
  /**
   * Takes the lock away from this holder, and only from it. For holders that a person knows to be gone; if this one
   * lives after all, two are inside from then on. Leaves an audit line.
   */
  break(resourceId: string, ifHeldBy: string): Promise<BreakOutcome>;
  /** Removes what is left of locks that have been free for at least that long; resolves with their ids. */
  sweep(idleMs: number): Promise<readonly string[]>;
}

export interface InspectedLock {
  readonly resourceId: string;
  /** `abandoned`: its holder is dead, and the next caller takes it. `unknown`: the backend does not tell. */
  readonly state: "held" | "free" | "abandoned" | "unknown";
  /** Who has it; of a free one, who had it last, where that is known. */
  readonly holder?: LockHolder;
  readonly waitingOwnerId?: string;
  readonly fencingToken?: bigint;
  /** When the holder's lease ends unless it is renewed, by the holder's clock. */
  readonly expiresAt?: Date;
  /** The file, object or key. */
  readonly where: string;
  /** Who has to end for the lock to be free, where that is all that frees it. */
  readonly processes?: readonly number[];
  readonly remark?: string;
}

export interface BreakAudit {
  readonly at: string;
  readonly action: "break";
  readonly resourceId: string;
  readonly ownerId: string;
  readonly by: { readonly host: string; readonly pid: number; readonly user: string };
}

export type BreakOutcome =
  | { readonly outcome: "broken"; readonly audit: BreakAudit }
  | { readonly outcome: "not_held" }
  | { readonly outcome: "held_by_another"; readonly lock: InspectedLock }
  /** Somebody is changing it at this moment. */
  | { readonly outcome: "busy" }
  /** Such a lock ends with its processes and not before. */
  | { readonly outcome: "end_the_processes"; readonly lock: InspectedLock };
