import type { Instant } from "./lease-environment";
import type { LeaseHolder, LeaseRecord, StoredLeaseRecord } from "./lease-record";
import { isForeign } from "./lease-record";

/** The next record for each step of the protocol. Pure; whether a step may be taken is decided elsewhere. */

export interface Claim {
  readonly ownerId: string;
  /** Counts this tenure's claims, so that a claim found by reading tells which of them it is. */
  readonly renewSeq: number;
  readonly ttlMs: number;
  readonly holder: Omit<LeaseHolder, "since">;
  readonly at: Instant;
  /** What the fence has to be greater than, besides the record's. */
  readonly fenceAbove: number;
}

/** Whoever waited is gone from it: it was us, or it was dead. */
export function claimed(previous: StoredLeaseRecord | null, claim: Claim): LeaseRecord {
  const previousFence = previous === null || isForeign(previous) ? 0 : previous.fence;
  return {
    ownerId: claim.ownerId,
    expiresAt: seconds(claim.at.wallMs + claim.ttlMs),
    waitingOwnerId: null,
    waiterExpiresAt: null,
    ttlMs: claim.ttlMs,
    renewSeq: claim.renewSeq,
    fence: Math.max(previousFence, claim.fenceAbove) + 1,
    ownerAgeMs: 0,
    holder: { ...claim.holder, since: seconds(claim.at.wallMs) },
  };
}

/** `mine` is what this tenure wrote last; `found` is what is stored now and may hold a waiter, or lack our own fields. */
export function renewed(
  mine: LeaseRecord,
  found: StoredLeaseRecord,
  renewSeq: number,
  at: Instant,
): LeaseRecord {
  return { ...keepingWaiter(mine, found), expiresAt: seconds(at.wallMs + mine.ttlMs), renewSeq };
}

/** Free, but not forgotten: the fence stays for the next tenure, the waiter for its turn. */
export function released(mine: LeaseRecord, found: StoredLeaseRecord): LeaseRecord {
  const kept = keepingWaiter(mine, found);
  const waitsForItself = kept.waitingOwnerId === mine.ownerId;
  return {
    ...kept,
    ownerId: null,
    expiresAt: 0,
    holder: null,
    waitingOwnerId: waitsForItself ? null : kept.waitingOwnerId,
    waiterExpiresAt: waitsForItself ? null : kept.waiterExpiresAt,
  };
}

/** A write by somebody other than the owner makes the version young; `ownerAgeMs` says how old the owner's part is. */
export function withWaiter(
  found: StoredLeaseRecord,
  waiter: { readonly waitingOwnerId: string; readonly waiterExpiresAtMs: number } | null,
  ownerAgeMs: number,
): StoredLeaseRecord {
  const place = {
    waitingOwnerId: waiter === null ? null : waiter.waitingOwnerId,
    waiterExpiresAt: waiter === null ? null : seconds(waiter.waiterExpiresAtMs),
  };
  return { ...restated(found, ownerAgeMs), ...place };
}

/** The same again under a new version, which shuts out every older write that may still be on its way. */
export function restated(found: StoredLeaseRecord, ownerAgeMs: number): StoredLeaseRecord {
  return isForeign(found) ? found : { ...found, ownerAgeMs: Math.max(0, Math.floor(ownerAgeMs)) };
}

/** Stands in for a missing record, for the same purpose. */
export function neverHeld(ttlMs: number): LeaseRecord {
  return {
    ownerId: null,
    expiresAt: 0,
    waitingOwnerId: null,
    waiterExpiresAt: null,
    ttlMs,
    renewSeq: 0,
    fence: 0,
    ownerAgeMs: 0,
    holder: null,
  };
}

function keepingWaiter(mine: LeaseRecord, found: StoredLeaseRecord): LeaseRecord {
  const { waitingOwnerId, waiterExpiresAt } = found;
  return { ...mine, waitingOwnerId, waiterExpiresAt, ownerAgeMs: 0 };
}

function seconds(ms: number): number {
  return ms / 1000;
}
