import { LockUnavailableError } from "../../application/ports/lock-errors";
import type { LockHold, LockOptions, LockProvider } from "../../application/ports/lock-provider";
import { announceHold } from "./announce-hold";
import type { LockQueue, LockQueues } from "../../application/ports/lock-queues";
import { Hold } from "./hold";
import { Entry, Line } from "./line";
import type { LockBackend, Tenure } from "./lock-backend";
import { lockSettings, type LockProviderSettings, type LockSettings } from "./lock-settings";
import { refuseReentry, runInside } from "./reentrancy";
import { RemotePlace } from "./remote-place";
import { Tally } from "./tally";
import { Wait } from "./wait";
import { acquireTenure } from "./waiting";

/** How long a caller who awaits the release waits for a backend that does not confirm it. */
const RELEASE_PATIENCE_MS = 2_000;

class RemoteEntry extends Entry {
  constructor(
    resourceId: string,
    readonly place: RemotePlace,
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
  private readonly line: Line<RemoteEntry>;
  private readonly waits = new Set<Wait>();
  private readonly work = new Tally();
  private closed: Promise<void> | undefined;

  constructor(
    private readonly backend: LockBackend,
    settings: LockProviderSettings = {},
  ) {
    this.settings = lockSettings(backend.adapter, settings);
    this.line = new Line((resourceId) => new RemoteEntry(resourceId, new RemotePlace(backend, resourceId)));
  }

  /** How many ids are locked, wanted, or being given back. */
  get size(): number {
    return this.line.size;
  }

  queues(): readonly LockQueue[] {
    return this.line.queues();
  }

  async withLock<T>(
    resourceId: string,
    criticalSection: (hold: LockHold) => Promise<T>,
    options: LockOptions = {},
  ): Promise<T> {
    refuseReentry(this, resourceId, options);
    const wait = new Wait(resourceId, options, this.settings);
    wait.check();
    if (this.closed !== undefined) throw closedError(resourceId);
    const entry = this.line.enter(resourceId);
    const tenure = await this.acquire(entry, wait);
    const sinceMs = this.settings.clock.wallMs();
    const hold = new Hold(
      this,
      resourceId,
      tenure.fencingToken,
      wait.waitedMs,
      wait.waitedFor,
      sinceMs,
      options.purpose,
      tenure,
    );
    entry.hold = hold;
    const over = announceHold(wait, hold);
    try {
      return await runInside(hold, criticalSection);
    } finally {
      hold.end();
      // The section has settled, and its outcome stands whatever becomes of the release.
      const release = this.giveBack(entry, tenure);
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

  private async acquire(entry: RemoteEntry, wait: Wait): Promise<Tenure> {
    this.waits.add(wait);
    this.work.begin();
    try {
      await this.line.turn(entry, wait);
    } catch (verdict) {
      this.waits.delete(wait);
      this.work.end();
      throw verdict;
    }
    try {
      const tenure = await acquireTenure(wait, entry, entry.place);
      this.work.end();
      return tenure;
    } catch (verdict) {
      void this.retreat(entry);
      throw verdict;
    } finally {
      this.waits.delete(wait);
    }
  }

  /** The next in line inherits the place with what is under way there. Only when nobody is left, it is left. */
  private async retreat(entry: RemoteEntry): Promise<void> {
    try {
      if (entry.tickets.isEmpty) {
        entry.isReleasing = true;
        await entry.place.quiet();
      }
      if (entry.tickets.isEmpty) await entry.place.leave();
    } catch {
      // As in giveBack: what cannot be given back ends by itself, and nobody is left here to be told.
    } finally {
      this.line.pass(entry);
      this.work.end();
    }
  }

  /** The line stays closed until the lock is really free; the caller has its answer by then. */
  private async giveBack(entry: RemoteEntry, tenure: Tenure): Promise<void> {
    this.work.begin();
    entry.hold = undefined;
    entry.holder = undefined;
    entry.contendedAtMs = this.settings.clock.monotonicMs();
    entry.isReleasing = true;
    try {
      await tenure.release();
    } catch {
      // A backend must not reject here. If one does, its lock ends by itself, and the section's outcome stands.
    } finally {
      this.line.pass(entry);
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
