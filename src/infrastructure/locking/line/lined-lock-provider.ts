import { LockUnavailableError } from "../../../application/ports/lock-errors";
import type { LockHold, LockOptions, LockProvider } from "../../../application/ports/lock-provider";
import { announceHold } from "../hold/announce-hold";
import type { LockQueue, LockQueues } from "../../../application/ports/lock-queues";
import { lend } from "../hold/lend";
import { Line } from "./line";
import { Lines } from "./lines";
import type { LockBackend, Tenure } from "../lock-backend";
import { lockSettings, type LockProviderSettings, type LockSettings } from "../lock-settings";
import { refuseReentry, runInside } from "../hold/reentrancy";
import { Bid } from "./bid";
import { Tally } from "./tally";
import { Wait } from "./wait";
import { acquireTenure } from "./acquire-tenure";

/** How long a caller who awaits the release waits for a backend that does not confirm it. */
const RELEASE_PATIENCE_MS = 2_000;

class LineWithBid extends Line {
  constructor(
    resourceId: string,
    readonly bid: Bid,
  ) {
    super(resourceId);
  }
}

/**
 * Makes a lock provider of anything that can make one attempt. Callers of this process stand in one line per id, and
 * only the one in front asks the backend: N callers cost it what one costs, and are served in order.
 */
export class LinedLockProvider implements LockProvider, LockQueues {
  private readonly settings: LockSettings;
  private readonly lines: Lines<LineWithBid>;
  private readonly waits = new Set<Wait>();
  private readonly work = new Tally();
  private closed: Promise<void> | undefined;

  constructor(
    private readonly backend: LockBackend,
    settings: LockProviderSettings = {},
  ) {
    this.settings = lockSettings(backend.adapter, settings);
    this.lines = new Lines((resourceId) => new LineWithBid(resourceId, new Bid(backend, resourceId)));
  }

  /** How many ids are locked, wanted, or being given back. */
  get size(): number {
    return this.lines.size;
  }

  queues(): readonly LockQueue[] {
    return this.lines.queues();
  }

  async withLock<T>(
    resourceId: string,
    criticalSection: (hold: LockHold) => T | PromiseLike<T>,
    options: LockOptions = {},
  ): Promise<T> {
    const outer = refuseReentry(this, resourceId, options);
    const wait = new Wait(resourceId, options, this.settings);
    wait.check();
    if (this.closed !== undefined) throw closedError(resourceId);
    const line = this.lines.of(resourceId);
    const tenure = await this.acquire(line, wait);
    const sinceMs = this.settings.clock.wallMs();
    const { fencingToken } = tenure;
    const { purpose } = options;
    const hold = lend({ lender: this, resourceId, fencingToken, sinceMs, purpose, wait, tenure });
    line.hold = hold;
    const over = announceHold(wait, hold);
    try {
      return await runInside(hold, outer, criticalSection);
    } finally {
      hold.end();
      // The section has settled, and its outcome stands whatever becomes of the release.
      const release = this.giveBack(line, tenure);
      over?.();
      if (options.release === "await") await this.forAWhile(release);
    }
  }

  /**
   * Refuses newcomers, tells those who wait, and closes the backend when every release under way is done. Sections that
   * are still running keep running; whether their locks outlive the backend is the backend's matter.
   */
  close(): Promise<void> {
    return (this.closed ??= this.shutDown());
  }

  private async acquire(line: LineWithBid, wait: Wait): Promise<Tenure> {
    this.waits.add(wait);
    this.work.begin();
    try {
      await this.lines.reachFront(line, wait);
    } catch (verdict) {
      this.waits.delete(wait);
      this.work.end();
      throw verdict;
    }
    try {
      const tenure = await acquireTenure(wait, line, line.bid);
      this.work.end();
      return tenure;
    } catch (verdict) {
      void this.retreat(line);
      throw verdict;
    } finally {
      this.waits.delete(wait);
    }
  }

  /** The next in line inherits the bid with what is under way. It is withdrawn only when the line is empty. */
  private async retreat(line: LineWithBid): Promise<void> {
    try {
      if (line.tickets.isEmpty) {
        line.isReleasing = true;
        await line.bid.quiet();
      }
      if (line.tickets.isEmpty) await line.bid.withdraw();
    } catch {
      // As in giveBack: what cannot be given back ends by itself, and no caller is left here to hear of it.
    } finally {
      this.lines.leaveFront(line);
      this.work.end();
    }
  }

  /** The line stays closed until the lock is really free; the caller has its answer by then. */
  private async giveBack(line: LineWithBid, tenure: Tenure): Promise<void> {
    this.work.begin();
    line.hold = undefined;
    line.holder = undefined;
    line.contendedAtMs = this.settings.clock.monotonicMs();
    line.isReleasing = true;
    try {
      await tenure.release();
    } catch {
      // A backend must not reject here. If one does, its lock ends by itself, and the section's outcome stands.
    } finally {
      this.lines.leaveFront(line);
      this.work.end();
    }
  }

  private async forAWhile(release: Promise<void>): Promise<void> {
    let stop = (): void => {};
    const over = new Promise<void>(
      (resolve) => (stop = this.settings.clock.after(RELEASE_PATIENCE_MS, resolve)),
    );
    await Promise.race([release, over]);
    stop();
  }

  private async shutDown(): Promise<void> {
    for (const wait of this.waits) wait.giveUp(closedError(wait.resourceId));
    await this.work.idle();
    await this.backend.close();
  }
}

function closedError(resourceId: string): LockUnavailableError {
  return new LockUnavailableError(resourceId, "the provider is closed");
}
