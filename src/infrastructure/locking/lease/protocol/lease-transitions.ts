import type { Instant } from "./lease-environment";
import { after, lineIn, newLine, waitersIn } from "./lease-line";
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
  /** For how long the next in line is taken for alive without a sign of its own. */
  readonly waiterTtlMs: number;
}

/** Whoever stood before us in line is gone from it, and so are we; who stood behind us moves up. */
export function claimed(previous: StoredLeaseRecord | null, claim: Claim): LeaseRecord {
  const left = previous === null ? [] : after(claim.ownerId, waitersIn(previous));
  const previousFence = previous === null || isForeign(previous) ? 0 : previous.fence;
  return {
    ownerId: claim.ownerId,
    expiresAt: seconds(claim.at.wallMs + claim.ttlMs),
    ...newLine(left, claim.at.wallMs + claim.waiterTtlMs),
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
  return { ...mine, ...lineIn(found), ownerAgeMs: 0, expiresAt: seconds(at.wallMs + mine.ttlMs), renewSeq };
}

/** Free, but not forgotten: the fence stays for the next tenure, the waiters for their turns. */
export function released(mine: LeaseRecord, found: StoredLeaseRecord): LeaseRecord {
  const others = waitersIn(found).filter((waiter) => waiter !== mine.ownerId);
  const { waiterExpiresAt } = others.length === 0 ? newLine([], 0) : found;
  const line = { ...newLine(others, 0), waiterExpiresAt };
  return { ...mine, ...line, ownerAgeMs: 0, ownerId: null, expiresAt: 0, holder: null };
}

export interface LineChange {
  /** Who makes it. */
  readonly by: string;
  readonly waiters: readonly string[];
  /** Until when a front that is new, or that makes the change itself, is taken for alive. */
  readonly frontUntilMs: number;
}

/** A write by somebody other than the owner makes the version young; `ownerAgeMs` says how old the owner's part is. */
export function withLine(
  found: StoredLeaseRecord,
  { by, waiters, frontUntilMs }: LineChange,
  ownerAgeMs: number,
): StoredLeaseRecord {
  const [front] = waiters;
  const line = newLine(waiters, frontUntilMs);
  // Only a waiter itself can say that it is alive.
  const keepsItsTime = front === found.waitingOwnerId && front !== by;
  const { waiterExpiresAt } = keepsItsTime ? found : line;
  return { ...restated(found, ownerAgeMs), ...line, waiterExpiresAt };
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

function seconds(ms: number): number {
  return ms / 1000;
}
