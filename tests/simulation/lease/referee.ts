import type { LockHold } from "../../../src/application/ports/lock-provider";
import { waitersIn } from "../../../src/infrastructure/locking/lease/protocol/lease-line";
import type { StoredLeaseRecord } from "../../../src/infrastructure/locking/lease/protocol/lease-record";
import type { Machine } from "./machine";
import type { Network } from "./network";
import type { World } from "./world";

export class Violation extends Error {}

/** One tenure inside, as the world sees it. */
export interface Insider {
  readonly id: string;
  readonly who: string;
  readonly machine: Machine;
  readonly fence: bigint;
  readonly sinceMs: number;
  readonly counted: Counted | undefined;
}

/** Of which semaphore the id is a slot, and how many its holder takes it to have. */
export interface Counted {
  readonly semaphore: string;
  readonly permits: number;
}

/** More failed requests than this must come together before a lease may run out: four time-outs fit into one. */
const CLOCK_SHARE = 0.98;
const MISHAPS_THAT_EXCUSE_A_LOSS = 3;

/** Sees everything, and says when a promise is broken. */
export class Referee {
  violation: Violation | undefined;
  acquisitions = 0;
  losses = 0;
  takeovers = 0;
  /** Until when others are to be kept out, and by whom. */
  private readonly kept = new Map<string, { readonly by: Insider; readonly untilMs: number }>();
  private readonly inside = new Map<string, Insider[]>();
  private readonly lastFence = new Map<string, bigint>();
  private readonly departures = new Set<string>();
  /** Tenures that could not be taken out of their record for a whole lease, and count as dead. */
  private readonly abandoned = new Set<string>();

  constructor(
    private readonly world: World,
    private readonly ttlMs: number,
    /** No request is lost and no process stands still: what is to be kept for a while is kept. */
    private readonly keepsAreSure: boolean,
  ) {}

  enter(id: string, who: string, machine: Machine, hold: LockHold, counted?: Counted): Insider {
    const { nowMs } = this.world;
    const insider: Insider = { id, who, machine, fence: hold.fencingToken, sinceMs: nowMs, counted };
    if (counted !== undefined) this.checkCount(insider, counted, hold.slot ?? 0);
    const kept = this.kept.get(id);
    if (kept !== undefined && nowMs < kept.untilMs)
      this.broken(`${who} entered ${id}, which ${kept.by.who} was to keep`);
    this.kept.delete(id);
    this.world.note(machine.name, `${who} enters ${id} with fence ${insider.fence}`);
    this.acquisitions += 1;
    const others = this.others(id);
    for (const other of others)
      if (!other.machine.stoodStillSince(other.sinceMs))
        this.broken(`${who} entered ${id} while ${other.who} was inside and running`);
    const last = this.lastFence.get(id);
    if (last !== undefined && insider.fence <= last)
      this.broken(`${who} got fence ${insider.fence} on ${id} after ${last}`);
    this.lastFence.set(id, insider.fence);
    this.inside.set(id, [...others, insider]);
    return insider;
  }

  /** Nobody else comes in until `keptForMs` after it came itself, however its clock goes. */
  leave(insider: Insider, keptForMs = 0): void {
    const untilMs = insider.sinceMs + CLOCK_SHARE * keptForMs;
    const isInside = this.others(insider.id).includes(insider);
    if (this.keepsAreSure && isInside && keptForMs > 0) this.kept.set(insider.id, { by: insider, untilMs });
    this.inside.set(
      insider.id,
      this.others(insider.id).filter((other) => other !== insider),
    );
  }

  /** `assertHeld` has just let it pass. */
  passed(insider: Insider): void {
    for (const other of this.others(insider.id)) {
      if (other === insider || other.machine.stoodStillSince(other.sinceMs)) continue;
      this.broken(`assertHeld let ${insider.who} pass while ${other.who} was inside ${insider.id}`);
    }
  }

  lost(insider: Insider, reason: string, network: Network): void {
    this.leave(insider);
    this.losses += 1;
    const { machine, who, sinceMs } = insider;
    this.world.note(machine.name, `${who} lost ${insider.id}: ${reason}`);
    const windowStartMs = this.world.nowMs - 1.1 * this.ttlMs;
    const isExcused =
      machine.stoodStillSince(Math.min(sinceMs, windowStartMs)) ||
      network.wasCutSince(windowStartMs) ||
      network.mishapsSince(windowStartMs) >= MISHAPS_THAT_EXCUSE_A_LOSS;
    if (!isExcused) this.broken(`${who} lost ${insider.id} without a reason: ${reason}`);
    if (reason.includes("now names") && !machine.stoodStillSince(sinceMs))
      this.broken(`${who} was running and lost ${insider.id} to somebody else before its lease ended`);
  }

  crashed(machine: Machine): void {
    for (const insiders of this.inside.values())
      for (const insider of insiders) if (insider.machine === machine) this.leave(insider);
    for (const [id, { by }] of this.kept) if (by.machine === machine) this.kept.delete(id);
  }

  /** It has closed its provider, and everything that it had to clean up is done. */
  departed(machine: Machine): void {
    this.world.note(machine.name, "has departed");
    this.departures.add(machine.name);
  }

  /** The store was out of reach for so long that it was right to give up. */
  gaveUpCleaning(ownerId: string): void {
    this.world.note(processOf(ownerId), `gives up cleaning after ${ownerId}`);
    this.abandoned.add(ownerId);
  }

  /** A write was applied. */
  stored(id: string, record: StoredLeaseRecord): void {
    // Left to itself for the rest of a minimum hold, a record names its owner for longer than that is there.
    const isLeft = record.ttlMs !== undefined && record.ttlMs !== this.ttlMs;
    for (const name of [isLeft ? null : record.ownerId, ...waitersIn(record)])
      if (name !== null && this.departures.has(processOf(name)) && !this.abandoned.has(name))
        this.broken(`${id} names ${name}, whose process has departed`);
  }

  /** Each slot has one holder at a time; with all of one mind, there are no more holders than permits. */
  private checkCount({ who }: Insider, { semaphore, permits }: Counted, slot: number): void {
    if (slot < 1 || slot > permits) this.broken(`${who} got slot ${slot} of ${permits} of ${semaphore}`);
    for (const { counted, machine, sinceMs, ...other } of [...this.inside.values()].flat())
      if (
        counted?.semaphore === semaphore &&
        counted.permits !== permits &&
        !machine.stoodStillSince(sinceMs)
      )
        this.broken(
          `${who} counted ${permits} permits while ${other.who} was inside with ${counted.permits}`,
        );
  }

  broken(what: string): void {
    this.world.note("!!", what);
    this.violation ??= new Violation(what);
  }

  private others(id: string): readonly Insider[] {
    return this.inside.get(id) ?? [];
  }
}

export function processOf(ownerId: string): string {
  return ownerId.slice(0, ownerId.indexOf(":"));
}
