import { aheadOf, MOST_BEHIND, waitersIn } from "./lease-line";
import { isForeign } from "./lease-record";
import { deadlySilenceMs, type LeaseSettings } from "./lease-settings";
import type { Sighting } from "./record-memory";

/** What a contender may do about a record. `turnMs`: from when on it may claim, if nothing is written until then. */
export type Verdict =
  /** It names us as its owner: a claim of ours was applied, though its answer never came. */
  | { readonly kind: "mine" }
  /** Nobody is inside, and nobody is to be let go first. */
  | { readonly kind: "claimable" }
  /** Somebody is inside; the place in front of the line is ours already, or nobody living has it. */
  | { readonly kind: "held"; readonly place: "mine" | "vacant"; readonly turnMs: number }
  /**
   * Whether or not somebody is inside: a live waiter goes first, and it is not us. Behind it we may join the line only
   * while somebody is inside: of a free lock the next write is the claim of whoever is in front.
   */
  | {
      readonly kind: "reserved";
      readonly waitingOwnerId: string;
      readonly mayJoin: boolean;
      readonly turnMs: number;
    };

/**
 * Nothing here looks at a wall clock of ours: owners and waiters are alive until they were silent for long enough on our
 * monotonic clock or by the store's. Being wrong about a waiter costs it its turn; being wrong about an owner would let
 * two in, hence the margin.
 */
export function judge(
  seen: Sighting | null,
  ownerId: string,
  nowMs: number,
  settings: LeaseSettings,
): Verdict {
  if (seen === null) return { kind: "claimable" };
  const { record, silence } = seen;
  if (record.ownerId === ownerId) return { kind: "mine" };

  const claimableSinceMs = claimableSince(seen, settings);
  const claimable = claimableSinceMs <= nowMs;
  const waiters = waitersIn(record);
  const [front] = waiters;
  const ahead = aheadOf(ownerId, waiters);
  if (front === undefined || ahead === 0) {
    if (claimable) return { kind: "claimable" };
    return { kind: "held", place: front === undefined ? "vacant" : "mine", turnMs: claimableSinceMs };
  }

  const frontIsDead = nowMs - silence.waiterSinceMs > settings.waiterTtlMs + settings.marginMs;
  // Each of them has a time of its own to take its turn. A dead front's falls to the next one alone: were everybody's
  // brought forward, turns that are over by then would all be due at once, and the first to look would have it.
  const turns = frontIsDead && ahead === 1 ? 0 : ahead;
  const turnMs = turns === 0 ? claimableSinceMs : claimableSinceMs + turns * settings.yieldMs + 1;
  if (turnMs <= nowMs) return { kind: "claimable" };
  if (frontIsDead && !claimable) return { kind: "held", place: "vacant", turnMs };
  const hasRoom = !isForeign(record) && ahead === waiters.length && waiters.length <= MOST_BEHIND;
  return { kind: "reserved", waitingOwnerId: front, mayJoin: hasRoom && !claimable, turnMs };
}

/**
 * The instant from which nobody is inside: of the release, or of the owner's death, which may be still to come. Infinity
 * where nothing tells.
 */
function claimableSince({ record, storeNowMs, silence }: Sighting, settings: LeaseSettings): number {
  if (record.ownerId === null) return silence.versionSinceMs;
  if (!isForeign(record)) return silence.ownerSinceMs + deadlySilenceMs(record.ttlMs, settings) + 1;
  // Its expiry is the only promise a foreign owner made; its silence guards against a wrong clock on its side.
  const expired = record.expiresAt * 1000 < storeNowMs;
  return expired ? silence.ownerSinceMs + settings.foreignQuietMs : Infinity;
}
