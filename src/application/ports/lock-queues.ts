import type { LockHolder } from "./lock-provider";

/** One id that callers of this process hold or want. */
export interface LockQueue {
  readonly resourceId: string;
  /** Who is inside, as far as this process can tell. */
  readonly holder?: LockHolder;
  /** How many callers of this process wait for it. */
  readonly waiting: number;
}

/** A provider that can tell who stands in line in this process. */
export interface LockQueues {
  queues(): readonly LockQueue[];
}
