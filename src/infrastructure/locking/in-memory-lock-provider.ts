// Excludes: callers in this process that share this instance.
// Survives: nothing; a lock is gone with its process.
// Not for: two processes on one store, however short the overlap (a rolling restart is one).
import type { LockHold, LockOptions, LockProvider } from "../../application/ports/lock-provider";
import { announceHold } from "./announce-hold";
import type { LockQueue, LockQueues } from "../../application/ports/lock-queues";
import { FencedLine } from "./fenced-line";
import { Hold } from "./hold";
import { lockSettings, type LockProviderSettings, type LockSettings } from "./lock-settings";
import { refuseReentry, runInside } from "./reentrancy";
import { Wait } from "./wait";

const NO_OPTIONS: LockOptions = {};

export class InMemoryLockProvider implements LockProvider, LockQueues {
  private readonly settings: LockSettings;
  private readonly line = new FencedLine();

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

  async withLock<T>(
    resourceId: string,
    criticalSection: (hold: LockHold) => Promise<T>,
    options: LockOptions = NO_OPTIONS,
  ): Promise<T> {
    refuseReentry(this, resourceId, options);
    const wait = new Wait(resourceId, options, this.settings);
    wait.check();
    const entry = this.line.enter(resourceId);
    await this.line.turn(entry, wait);
    let over: (() => void) | undefined;
    let hold: Hold | undefined;
    try {
      // The wait may have been cancelled between the turn and this line.
      wait.succeed();
      const sinceMs = this.settings.clock.wallMs();
      const token = this.line.nextToken(entry, sinceMs);
      const { waitedMs, waitedFor } = wait;
      hold = new Hold(this, resourceId, token, waitedMs, waitedFor, sinceMs, options.purpose, undefined);
      entry.hold = hold;
      over = announceHold(wait, hold);
      return await runInside(hold, criticalSection);
    } finally {
      hold?.end();
      this.line.pass(entry);
      over?.();
    }
  }
}
