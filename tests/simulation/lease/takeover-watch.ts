import { waitersIn } from "../../../src/infrastructure/locking/lease/protocol/lease-line";
import {
  isForeign,
  type LeaseRecord,
  type StoredLeaseRecord,
} from "../../../src/infrastructure/locking/lease/protocol/lease-record";
import {
  deadlySilenceMs,
  type LeaseSettings,
} from "../../../src/infrastructure/locking/lease/protocol/lease-settings";
import type { Machine } from "./machine";
import { MAX_LATENCY_MS } from "./network";
import { processOf, type Referee } from "./referee";
import type { World } from "./world";

/** Both clocks may be off by 1 %, in opposite directions. */
const DRIFT_FACTOR = 1.0202;
/** A look, its age, a place given up in between, and the claim. */
const REQUESTS = 4;

/**
 * Measures how long a dead holder's lock stays untaken while a running process with healthy requests wants it all the
 * time. The bound, from the owner's last sign of life that reached the store:
 * ttl + margin (stretched by drift) + one poll of a waiter + four requests. The time for which a freed lock is kept for
 * its next waiter, and one more poll, come on top for each waiter that had died, too, or that cannot know as early as
 * others that the owner is dead, because it came later and the store tells no ages, or rounds them.
 */
export class TakeoverWatch {
  longestMs = 0;
  private readonly lastRecord = new Map<string, LeaseRecord>();
  private readonly lastSignMs = new Map<string, number>();
  private readonly waitersSinceSign = new Map<string, Set<string>>();
  private readonly dead = new Set<string>();

  constructor(
    private readonly world: World,
    private readonly referee: Referee,
    private readonly settings: LeaseSettings,
    private readonly tellsExactAges: boolean,
  ) {}

  crashed(machine: Machine): void {
    this.dead.add(machine.name);
  }

  stored(id: string, record: StoredLeaseRecord): void {
    if (isForeign(record)) return;
    const last = this.lastRecord.get(id);
    this.lastRecord.set(id, record);
    const isSign = last?.fence !== record.fence || last.renewSeq !== record.renewSeq;
    const waiters = this.waitersSinceSign.get(id) ?? new Set();
    if (!isSign) {
      for (const waiter of waitersIn(record)) waiters.add(waiter);
      this.waitersSinceSign.set(id, waiters);
      return;
    }
    if (last !== undefined && last.ownerId !== null && this.isDead(last.ownerId)) this.check(id, last);
    this.lastSignMs.set(id, this.world.nowMs);
    this.waitersSinceSign.set(id, new Set(waitersIn(record)));
  }

  private check(id: string, last: LeaseRecord): void {
    const { ttlMs, waiterPollMs, yieldMs } = this.settings;
    const tookMs = this.world.nowMs - (this.lastSignMs.get(id) ?? 0);
    const waiters = [...(this.waitersSinceSign.get(id) ?? [])];
    const turnsMissed = waiters.filter((waiter) => this.isDead(waiter) || !this.tellsExactAges).length;
    const boundMs =
      DRIFT_FACTOR * deadlySilenceMs(ttlMs, this.settings) +
      waiterPollMs +
      REQUESTS * 2 * MAX_LATENCY_MS +
      turnsMissed * (DRIFT_FACTOR * yieldMs + waiterPollMs);
    this.referee.takeovers += 1;
    this.longestMs = Math.max(this.longestMs, tookMs);
    if (tookMs > boundMs)
      this.referee.broken(
        `${id} stayed with the dead ${last.ownerId} for ${Math.round(tookMs)} ms instead of ${Math.round(boundMs)} ms`,
      );
  }

  isDead(ownerId: string): boolean {
    return this.dead.has(processOf(ownerId));
  }
}
