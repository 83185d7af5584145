// Excludes: callers in this process that share this instance.
// Survives: nothing; a lock is gone with its process.
// Not for: two processes on one store, however short the overlap (a rolling restart is one).
import { permitsOf } from "../../../application/locking/slots";
import type { LockHold, LockOptions, LockProvider } from "../../../application/ports/lock-provider";
import { announceHold } from "../hold/announce-hold";
import type { LockQueue, LockQueues } from "../../../application/ports/lock-queues";
import { FencedLines } from "./fenced-lines";
import { lend, type Hold } from "../hold/lend";
import { keptFor, minimumHoldMs, restOfHoldMs } from "../hold/minimum-hold";
import { lockSettings, type LockProviderSettings, type LockSettings } from "../lock-settings";
import { refuseReentry, runInside } from "../hold/reentrancy";
import { isFollowed, Wait } from "../line/wait";

const NO_OPTIONS: LockOptions = {};

export class MemoryLockProvider implements LockProvider, LockQueues {
  private readonly settings: LockSettings;
  private readonly lines = new FencedLines();
  private readonly semaphores = new FencedLines();

  constructor(settings: LockProviderSettings = {}) {
    this.settings = lockSettings("memory", settings);
  }

  /** How many ids are locked. */
  get size(): number {
    return this.lines.size + this.semaphores.size;
  }

  queues(): readonly LockQueue[] {
    return [...this.lines.queues(), ...this.semaphores.queues()];
  }

  async withLock<T>(
    resourceId: string,
    criticalSection: (hold: LockHold) => T | PromiseLike<T>,
    options: LockOptions = NO_OPTIONS,
  ): Promise<T> {
    const outer = refuseReentry(this, resourceId, options);
    const { settings } = this;
    const permits = permitsOf(options);
    const lines = permits === undefined ? this.lines : this.semaphores;
    const leastMs = minimumHoldMs(options);
    // Made only where it has something to do: it is a tenth of an uncontended lock.
    let wait = isFollowed(options, settings) ? new Wait(resourceId, options, settings) : undefined;
    wait?.check();
    const line = lines.of(resourceId, permits);
    if (line.isTaken) wait ??= new Wait(resourceId, options, settings);
    await lines.reachFront(line, wait);
    let slot: number | undefined;
    let over: (() => void) | undefined;
    let hold: Hold | undefined;
    let untilMs = 0;
    try {
      // The wait may have been cancelled between the turn and this line.
      wait?.succeed();
      const sinceMs = settings.clock.wallMs();
      const fencingToken = lines.nextToken(line, sinceMs);
      if (permits !== undefined) slot = line.freeSlot;
      hold = lend({ lender: this, resourceId, fencingToken, slot, sinceMs, purpose: options.purpose, wait });
      if (slot === undefined) line.hold = hold;
      else line.occupy(slot, hold);
      if (leastMs > 0) untilMs = settings.clock.monotonicMs() + leastMs;
      if (wait !== undefined) over = announceHold(wait, hold);
      return await runInside(hold, outer, criticalSection);
    } finally {
      hold?.end();
      const leave = (): void => {
        if (slot !== undefined) line.vacate(slot);
        lines.leaveFront(line);
      };
      const restMs = untilMs === 0 ? 0 : restOfHoldMs(options, untilMs, settings.clock.monotonicMs());
      if (restMs > 0) {
        const kept = keptFor(settings.clock, restMs).then(leave);
        wait?.announce({ type: "kept", forMs: restMs });
        over?.();
        if (options.release === "await") await kept;
      } else {
        leave();
        over?.();
      }
    }
  }
}
