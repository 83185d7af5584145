import type { HandoffLock } from "../../ports/handoff-lock";
import type { LockHold } from "../../ports/lock-provider";

/** Told at most once each; `onReleaseRequested` once for each waiter. */
export interface OwnershipListener {
  onReleaseRequested(): void;
  onLost(reason: string): void;
}

/**
 * One tenure of a sandbox, from acquiring its lock to releasing it. What the lock reports before anybody listens (a
 * waiter or a loss while the snapshot is still being read) is kept for whoever listens first.
 */
export class SandboxOwnership {
  private listener: OwnershipListener | undefined;
  private lostReason: string | undefined;
  private isAsked = false;
  private released: Promise<void> | undefined;

  private constructor(
    private readonly lock: HandoffLock,
    private readonly hold: LockHold,
    readonly since: Date,
  ) {}

  /** Rejects as the lock's `acquire` does. */
  static async take(
    lock: HandoffLock,
    acquire: (lock: HandoffLock) => Promise<LockHold>,
    now: () => Date,
  ): Promise<SandboxOwnership> {
    // Both may be told before `acquire` has come back to us.
    const early: ((ownership: SandboxOwnership) => void)[] = [];
    let tell = (what: (ownership: SandboxOwnership) => void): void => void early.push(what);
    lock.onLost((reason) => tell((owned) => owned.lose(reason)));
    lock.onReleaseRequested(() => tell((owned) => owned.ask()));
    const hold = await acquire(lock);
    const taken = new SandboxOwnership(lock, hold, now());
    tell = (what) => what(taken);
    for (const happening of early) happening(taken);
    return taken;
  }

  get fence(): bigint {
    return this.hold.fencingToken;
  }

  /** Somebody has asked for the sandbox. */
  get releaseRequested(): boolean {
    return this.isAsked;
  }

  /** Hears at once of what has happened before. */
  listen(listener: OwnershipListener): void {
    this.listener = listener;
    if (this.lostReason !== undefined) listener.onLost(this.lostReason);
    else if (this.isAsked) listener.onReleaseRequested();
  }

  /** Null while it is ours: by the clocks, now, and not by a timer that may be late after a stall. */
  loss(): string | null {
    if (this.lostReason !== undefined) return this.lostReason;
    try {
      this.hold.assertHeld();
      return null;
    } catch (error) {
      const { reason } = error as { reason?: string };
      return reason ?? String(error);
    }
  }

  /** Idempotent. Never rejects: a lease that cannot be given back ends by itself. */
  release(): Promise<void> {
    this.released ??= this.lock.release().catch(() => undefined);
    return this.released;
  }

  private ask(): void {
    this.isAsked = true;
    this.listener?.onReleaseRequested();
  }

  private lose(reason: string): void {
    if (this.lostReason !== undefined) return;
    this.lostReason = reason;
    this.listener?.onLost(reason);
  }
}
