import { isForeign, type LeaseRecord, type StoredLeaseRecord } from "./lease-record";

/** How many may stand behind the waiter in front: a record stays small, and a dead fleet costs minutes at most. */
export const MOST_BEHIND = 15;

/** The record's fields about who waits. */
export type LeaseLine = Pick<LeaseRecord, "waitingOwnerId" | "waiterExpiresAt" | "waitingBehind">;

/** Who waits, in the order of their turns. */
export function waitersIn(record: StoredLeaseRecord): readonly string[] {
  if (record.waitingOwnerId === null) return [];
  return [record.waitingOwnerId, ...(isForeign(record) ? [] : (record.waitingBehind ?? []))];
}

/** As it stands there. */
export function lineIn(record: StoredLeaseRecord): LeaseLine {
  const { waitingOwnerId, waiterExpiresAt } = record;
  return { waitingOwnerId, waiterExpiresAt, waitingBehind: waitersIn(record).slice(1) };
}

/** A line of these, with a front that is counted as alive from now on. */
export function newLine([front, ...behind]: readonly string[], frontUntilMs: number): LeaseLine {
  if (front === undefined) return { waitingOwnerId: null, waiterExpiresAt: null, waitingBehind: [] };
  return { waitingOwnerId: front, waiterExpiresAt: frontUntilMs / 1000, waitingBehind: behind };
}

/** How many have their turn before this tenure. */
export function aheadOf(ownerId: string, waiters: readonly string[]): number {
  const place = waiters.indexOf(ownerId);
  return place === -1 ? waiters.length : place;
}

/** Who is left when this tenure has its turn: whoever stood before it has missed its own. */
export function after(ownerId: string, waiters: readonly string[]): readonly string[] {
  return waiters.slice(aheadOf(ownerId, waiters) + 1);
}

/** This tenure at the end of the line, unless it stands there already; and without a front that is dead. */
export function joined(ownerId: string, waiters: readonly string[], frontIsDead: boolean): readonly string[] {
  const left = frontIsDead ? waiters.slice(1) : waiters;
  return left.includes(ownerId) ? left : [...left, ownerId];
}
