import { aheadOf, waitersIn } from "../../../src/infrastructure/locking/lease/protocol/lease-line";
import type { StoredLeaseRecord } from "../../../src/infrastructure/locking/lease/protocol/lease-record";
import {
  deadlySilenceMs,
  type LeaseSettings,
} from "../../../src/infrastructure/locking/lease/protocol/lease-settings";
import type { Referee } from "./referee";
import type { World } from "./world";

/** A process whose clock is 1 % fast counts a little less than the truth. */
const CLOCK_SHARE = 0.98;

interface Seen {
  readonly record: StoredLeaseRecord;
  /** When the owner last showed a sign of life, or let go. */
  readonly ownerSignMs: number;
  readonly waiterSignMs: number;
}

/**
 * Whoever takes a lock takes nobody's turn: each one that waits before it in the record, and has not been silent for as
 * long as makes it dead, was given `yieldMs` of its own since the lock was free, or its owner dead. In any weather, for
 * stalls and late requests only make a claim later. How often a waiter is overtaken at all follows: never, while it looks.
 */
export class TurnWatch {
  overtaken = 0;
  private readonly seen = new Map<string, Seen>();

  constructor(
    private readonly world: World,
    private readonly referee: Referee,
    private readonly settings: LeaseSettings,
    /**
     * Whether whoever waits, and lives, takes its turn in time. After an owner's death only where the store tells exact
     * ages: who came after its last sign of life knows of it later than those who had watched it, and each waiter that
     * says how old it is by whole seconds makes that later.
     */
    private readonly everybodyLooks: "always" | "after a release" | false,
    private readonly isDead: (ownerId: string) => boolean,
  ) {}

  stored(id: string, record: StoredLeaseRecord): void {
    const last = this.seen.get(id);
    const { nowMs } = this.world;
    if (last !== undefined && record.ownerId !== null && record.ownerId !== last.record.ownerId)
      this.check(id, record.ownerId, last);
    const isSameOwner = last !== undefined && ownerSign(last.record) === ownerSign(record);
    const isSameWaiter = last !== undefined && waiterSign(last.record) === waiterSign(record);
    this.seen.set(id, {
      record,
      ownerSignMs: isSameOwner ? last.ownerSignMs : nowMs,
      waiterSignMs: isSameWaiter ? last.waiterSignMs : nowMs,
    });
  }

  private check(id: string, taker: string, { record, ownerSignMs, waiterSignMs }: Seen): void {
    const { yieldMs, waiterTtlMs, marginMs } = this.settings;
    const { ttlMs = this.settings.ttlMs } = record;
    const { nowMs } = this.world;
    const waiters = waitersIn(record);
    const ahead = aheadOf(taker, waiters);
    if (ahead === 0) return;
    this.overtaken += 1;
    const frontIsDead = nowMs - waiterSignMs > CLOCK_SHARE * (waiterTtlMs + marginMs);
    const turns = frontIsDead && ahead === 1 ? 0 : ahead;
    const silenceMs = record.ownerId === null ? 0 : deadlySilenceMs(ttlMs, this.settings);
    const givenMs = nowMs - ownerSignMs - CLOCK_SHARE * silenceMs;
    if (givenMs < CLOCK_SHARE * turns * yieldMs)
      this.referee.broken(
        `${taker} took ${id} from ${ahead} who waited before it, after ${Math.round(givenMs)} ms`,
      );
    const living = waiters.slice(0, ahead).find((waiter) => !this.isDead(waiter));
    const wouldHaveCome =
      this.everybodyLooks === "always" || (this.everybodyLooks && record.ownerId === null);
    if (wouldHaveCome && living !== undefined)
      this.referee.broken(`${taker} took ${id} out of turn: ${living} waited before it, and looked`);
  }
}

function ownerSign(record: StoredLeaseRecord): string {
  return record.ttlMs === undefined ? "" : `${record.ownerId} ${record.fence}/${record.renewSeq}`;
}

function waiterSign(record: StoredLeaseRecord): string {
  return `${record.waitingOwnerId} until ${record.waiterExpiresAt}`;
}
