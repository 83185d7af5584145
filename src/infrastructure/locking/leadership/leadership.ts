import type { HeldLock } from "../../../application/locking/acquire-lock";
import type { LockHold, LockHolder } from "../../../application/ports/lock-provider";

/** What the work of a leader is told: the hold of its lock, whose signal fires while there is still time to end. */
export class Leadership implements LockHold {
  declare readonly waitedFor?: LockHolder;
  private readonly stepping = new AbortController();

  constructor(private readonly lock: HeldLock) {
    if (lock.waitedFor !== undefined) this.waitedFor = lock.waitedFor;
  }

  get resourceId(): string {
    return this.lock.resourceId;
  }

  get fencingToken(): bigint {
    return this.lock.fencingToken;
  }

  get waitedMs(): number {
    return this.lock.waitedMs;
  }

  /** Fires when the work has to end; its reason says why. The lock is still held then, unless it was taken away. */
  get signal(): AbortSignal {
    return this.stepping.signal;
  }

  /** Throws `LockLostError` unless no other leader can have begun. Also true of one that is stepping down. */
  assertHeld(): void {
    this.lock.assertHeld();
  }

  aloneForMs(): number {
    return this.lock.aloneForMs();
  }

  /** The first reason counts. */
  stepDown(reason: string): void {
    this.stepping.abort(reason);
  }
}
