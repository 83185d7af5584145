import { permitsOf } from "../../../application/locking/slots";
import { LockPermitsError, LockUnavailableError } from "../../../application/ports/lock-errors";
import type { LockHold, LockOptions, LockProvider } from "../../../application/ports/lock-provider";
import { announceHold } from "../hold/announce-hold";
import type { LockQueue, LockQueues } from "../../../application/ports/lock-queues";
import { lend, type Hold } from "../hold/lend";
import { keptFor, minimumHoldMs, restOfHoldMs } from "../hold/minimum-hold";
import { Line } from "./line";
import { Lines } from "./lines";
import type { LockBackend, Tenure } from "../lock-backend";
import { SlotLine, SlotLines } from "../slots/slot-line";
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
 * only the one in front asks the backend: N callers cost it what one costs, and are served in order. In the line of a
 * semaphore, a caller makes room as soon as it has its slot.
 */
export class LinedLockProvider implements LockProvider, LockQueues {
  private readonly settings: LockSettings;
  private readonly lines: Lines<LineWithBid>;
  private readonly semaphores: SlotLines;
  private readonly waits = new Set<Wait>();
  private readonly work = new Tally();
  private closed: Promise<void> | undefined;

  constructor(
    private readonly backend: LockBackend,
    settings: LockProviderSettings = {},
  ) {
    const { adapter } = backend;
    this.settings = lockSettings(adapter, settings);
    this.lines = new Lines((resourceId) => new LineWithBid(resourceId, new Bid(backend, resourceId)));
    this.semaphores = new SlotLines((resourceId, permits) => {
      const { random } = this.settings;
      const slots = backend.slots?.({ resourceId, permits, random });
      if (slots === undefined) throw noSemaphores(resourceId, adapter);
      return new SlotLine(resourceId, permits, slots);
    });
  }

  /** How many ids are locked, wanted, or being given back. */
  get size(): number {
    return this.lines.size + this.semaphores.size;
  }

  queues(): readonly LockQueue[] {
    return [...this.lines.queues(), ...this.semaphores.queues()];
  }

  async withLock<T>(
    resourceId: string,
    criticalSection: (hold: LockHold) => T | PromiseLike<T>,
    options: LockOptions = {},
  ): Promise<T> {
    const outer = refuseReentry(this, resourceId, options);
    const permits = permitsOf(options);
    const leastMs = minimumHoldMs(options);
    const others = permits === undefined ? undefined : this.semaphores.lastOfOthers(resourceId, permits);
    if (others !== undefined) await this.forAWhile(others, 0);
    const wait = new Wait(resourceId, options, this.settings);
    wait.check();
    if (this.closed !== undefined) throw closedError(resourceId);
    const line = permits === undefined ? this.lines.of(resourceId) : this.semaphores.of(resourceId, permits);
    const tenure = await this.acquire(line, wait);
    const { clock } = this.settings;
    const sinceMs = clock.wallMs();
    const untilMs = leastMs === 0 ? 0 : clock.monotonicMs() + leastMs;
    const { fencingToken, slot } = tenure;
    const { purpose } = options;
    const hold = lend({ lender: this, resourceId, fencingToken, slot, sinceMs, purpose, wait, tenure });
    if (line instanceof SlotLine) this.semaphores.entered(line, hold);
    else line.hold = hold;
    const over = announceHold(wait, hold);
    try {
      return await runInside(hold, outer, criticalSection);
    } finally {
      hold.end();
      const restMs = leastMs === 0 ? 0 : restOfHoldMs(options, untilMs, clock.monotonicMs(), tenure.lost);
      // The section has settled, and its outcome stands whatever becomes of the release.
      const release = this.giveBack(line, hold, tenure, restMs);
      if (restMs > 0) wait.announce({ type: "kept", forMs: restMs });
      over?.();
      if (options.release === "await")
        await this.forAWhile(release, tenure.leaveFor === undefined ? restMs : 0);
    }
  }

  /**
   * Refuses newcomers, tells those who wait, and closes the backend when every release under way is done. Sections that
   * are still running keep running; whether their locks outlive the backend is the backend's matter.
   */
  close(): Promise<void> {
    return (this.closed ??= this.shutDown());
  }

  private async acquire(line: LineWithBid | SlotLine, wait: Wait): Promise<Tenure> {
    this.waits.add(wait);
    this.work.begin();
    try {
      await (line instanceof SlotLine
        ? this.semaphores.reachFront(line, wait)
        : this.lines.reachFront(line, wait));
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
      const retreat = this.retreat(line);
      // Nothing of it is under way, and who comes next may well bring the number that is agreed upon.
      if (verdict instanceof LockPermitsError) await retreat;
      throw verdict;
    } finally {
      this.waits.delete(wait);
    }
  }

  /** The next in line inherits the bid with what is under way. It is withdrawn only when the line is empty. */
  private async retreat(line: LineWithBid | SlotLine): Promise<void> {
    try {
      if (line.tickets.isEmpty) {
        line.isReleasing = true;
        await line.bid.quiet();
      }
      if (line.tickets.isEmpty) await line.bid.withdraw();
    } catch {
      // As in giveBack: what cannot be given back ends by itself, and no caller is left here to hear of it.
    } finally {
      if (line instanceof SlotLine) this.semaphores.leaveFront(line);
      else this.lines.leaveFront(line);
      this.work.end();
    }
  }

  /** The line, or the slot, stays closed until the lock is really free; the caller has its answer by then. */
  private async giveBack(
    line: LineWithBid | SlotLine,
    hold: Hold,
    tenure: Tenure,
    restMs: number,
  ): Promise<void> {
    this.work.begin();
    const mayLeave = restMs > 0 && tenure.leaveFor !== undefined;
    // Whoever is in this line meets a holder until then, and not a release that is under way.
    if (restMs > 0 && !mayLeave) await keptFor(this.settings.clock, restMs, tenure.lost);
    if (line instanceof SlotLine) line.leaving += 1;
    else {
      line.hold = undefined;
      line.holder = undefined;
      line.contendedAtMs = this.settings.clock.monotonicMs();
      line.isReleasing = true;
    }
    try {
      await (mayLeave ? tenure.leaveFor?.(restMs) : tenure.release());
    } catch {
      // A backend must not reject here. If one does, its lock ends by itself, and the section's outcome stands.
    } finally {
      if (line instanceof SlotLine) this.semaphores.left(line, hold);
      else this.lines.leaveFront(line);
      this.work.end();
    }
  }

  private async forAWhile(release: Promise<void>, keptMs: number): Promise<void> {
    let stop = (): void => {};
    const over = new Promise<void>(
      (resolve) => (stop = this.settings.clock.after(keptMs + RELEASE_PATIENCE_MS, resolve)),
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

function noSemaphores(resourceId: string, adapter: string): LockUnavailableError {
  const reason = `locks of "${adapter}" have no semaphores; take it without permits, or use another provider`;
  return new LockUnavailableError(resourceId, reason, { permanent: true });
}

function closedError(resourceId: string): LockUnavailableError {
  return new LockUnavailableError(resourceId, "the provider is closed");
}
