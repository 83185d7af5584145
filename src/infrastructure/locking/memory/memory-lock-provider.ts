// Excludes: callers in this process that share this instance.
// Survives: nothing; a lock is gone with its process.
// Not for: two processes on one store, however short the overlap (a rolling restart is one).
import type { LockHold, LockOptions, LockProvider } from "../../../application/ports/lock-provider";
import { announceHold } from "../hold/announce-hold";
import type { LockQueue, LockQueues } from "../../../application/ports/lock-queues";
import { FencedLines } from "./fenced-lines";
import { lend, type Hold } from "../hold/lend";
import { lockSettings, type LockProviderSettings, type LockSettings } from "../lock-settings";
import { refuseReentry, runInside } from "../hold/reentrancy";
import { isFollowed, Wait } from "../line/wait";

const NO_OPTIONS: LockOptions = {};

export class MemoryLockProvider implements LockProvider, LockQueues {
  private readonly settings: LockSettings;
  private readonly lines = new FencedLines();

  constructor(settings: LockProviderSettings = {}) {
    this.settings = lockSettings("memory", settings);
  }

  /** How many ids are locked. */
  get size(): number {
    return this.lines.size;
  }

  queues(): readonly LockQueue[] {
    return this.lines.queues();
  }

  async withLock<T>(
    resourceId: string,
    criticalSection: (hold: LockHold) => T | PromiseLike<T>,
    options: LockOptions = NO_OPTIONS,
  ): Promise<T> {
    const outer = refuseReentry(this, resourceId, options);
    const { settings } = this;
    // Made only where it has something to do: it is a tenth of an uncontended lock.
    let wait = isFollowed(options, settings) ? new Wait(resourceId, options, settings) : undefined;
    wait?.check();
    const line = this.lines.of(resourceId);
    if (line.isTaken) wait ??= new Wait(resourceId, options, settings);
    await this.lines.reachFront(line, wait);
    let over: (() => void) | undefined;
    let hold: Hold | undefined;
    try {
      // The wait may have been cancelled between the turn and this line.
      wait?.succeed();
      const sinceMs = settings.clock.wallMs();
      const fencingToken = this.lines.nextToken(line, sinceMs);
      hold = lend({ lender: this, resourceId, fencingToken, sinceMs, purpose: options.purpose, wait });
      line.hold = hold;
      if (wait !== undefined) over = announceHold(wait, hold);
      return await runInside(hold, outer, criticalSection);
    } finally {
      hold?.end();
      this.lines.leaveFront(line);
      over?.();
    }
  }
}
