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
}

/** More failed requests than this must come together before a lease may run out: four time-outs fit into one. */
const MISHAPS_THAT_EXCUSE_A_LOSS = 3;

/** Sees everything, and says when a promise is broken. */
export class Referee {
  violation: Violation | undefined;
  acquisitions = 0;
  losses = 0;
  takeovers = 0;
  private readonly inside = new Map<string, Insider[]>();
  private readonly lastFence = new Map<string, bigint>();
  private readonly departures = new Set<string>();
  /** Tenures that could not be taken out of their record for a whole lease, and count as dead. */
  private readonly abandoned = new Set<string>();

  constructor(
    private readonly world: World,
    private readonly ttlMs: number,
  ) {}

  enter(id: string, who: string, machine: Machine, hold: LockHold): Insider {
    const { nowMs } = this.world;
    const insider: Insider = { id, who, machine, fence: hold.fencingToken, sinceMs: nowMs };
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

  leave(insider: Insider): void {
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
    for (const name of [record.ownerId, ...waitersIn(record)])
      if (name !== null && this.departures.has(processOf(name)) && !this.abandoned.has(name))
        this.broken(`${id} names ${name}, whose process has departed`);
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
