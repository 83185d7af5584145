// Excludes: callers in this process that share this instance.
// Survives: nothing; a lock is gone with its process.
// Not for: two processes on one store, however short the overlap (a rolling restart is one).
import type { LockHold, LockOptions, LockProvider } from "../../application/ports/lock-provider";
import { announceHold } from "./announce-hold";
import type { LockQueue, LockQueues } from "../../application/ports/lock-queues";
import { FencingCounter } from "./fencing-counter";
import { Hold } from "./hold";
import { Entry, Line } from "./line";
import { lockSettings, type LockProviderSettings, type LockSettings } from "./lock-settings";
import { refuseReentry, runInside } from "./reentrancy";
import { Wait } from "./wait";

const NO_OPTIONS: LockOptions = {};

export class InMemoryLockProvider implements LockProvider, LockQueues {
  private readonly settings: LockSettings;
  // Nothing is left to take once in front: whoever stands behind has met contention.
  private readonly line = new Line((resourceId) => new Entry(resourceId, Infinity));
  private readonly fencing = new FencingCounter();

  constructor(settings: LockProviderSettings = {}) {
    this.settings = lockSettings("memory", settings);
  }

  /** How many ids are locked. */
  get size(): number {
    return this.line.size;
  }

  queues(): readonly LockQueue[] {
    return this.line.queues();
  }

  /** Not an async function, because ten thousand of them may wait at once and each would keep its frame meanwhile. */
  withLock<T>(
    resourceId: string,
    criticalSection: (hold: LockHold) => Promise<T>,
    options: LockOptions = NO_OPTIONS,
  ): Promise<T> {
    try {
      refuseReentry(this, resourceId, options);
      const wait = new Wait(resourceId, options, this.settings);
      wait.check();
      const entry = this.line.enter(resourceId);
      const turn = this.line.turn(entry, wait);
      if (turn === undefined) return this.lend(entry, wait, criticalSection);
      return turn.then(() => this.lendAfterWait(entry, wait, criticalSection));
    } catch (refusal) {
      return rejected(refusal);
    }
  }

  private lendAfterWait<T>(
    entry: Entry,
    wait: Wait,
    criticalSection: (hold: LockHold) => Promise<T>,
  ): Promise<T> {
    try {
      wait.succeed();
    } catch (cancelled) {
      this.line.pass(entry);
      throw cancelled;
    }
    return this.lend(entry, wait, criticalSection);
  }

  private async lend<T>(
    entry: Entry,
    wait: Wait,
    criticalSection: (hold: LockHold) => Promise<T>,
  ): Promise<T> {
    const { resourceId, options, waitedMs, waitedFor } = wait;
    const sinceMs = this.settings.clock.wallMs();
    const token = this.fencing.next(sinceMs);
    const hold = new Hold(this, resourceId, token, waitedMs, waitedFor, sinceMs, options.purpose, undefined);
    entry.hold = hold;
    const over = announceHold(wait, hold);
    try {
      return await runInside(hold, criticalSection);
    } finally {
      hold.end();
      this.line.pass(entry);
      over?.();
    }
  }
}

async function rejected(refusal: unknown): Promise<never> {
  throw refusal;
}
