import { isForeign, type LeaseRecord, type StoredLeaseRecord } from "./lease-record";
import type { ReadLeaseRecord, RecordVersion } from "./lease-record-store";
import type { LeaseSettings } from "./lease-settings";

/** Since when, on this process's monotonic clock, parts of a record have certainly been as they are. */
export interface Silence {
  /** Since the owner's last sign of life, at the latest. */
  readonly ownerSinceMs: number;
  /** Since the waiter's last sign of life, at the latest. */
  readonly waiterSinceMs: number;
  /** Since this version was written, at the latest. */
  readonly versionSinceMs: number;
}

/**
 * One reading of a record, and what is known about it. It stays with whoever read it: what is remembered by id may be of
 * another reading by the time it is asked for, and one owner's silence must not be counted against the next.
 */
export interface Sighting extends ReadLeaseRecord {
  readonly silence: Silence;
  /** First met after a long look away: only the store can tell how old it is. */
  readonly isAgeUnknown: boolean;
  readonly seenAtMs: number;
}

interface Known {
  sighting?: Sighting;
  /** The greatest that was seen, also of a record that is gone. */
  fence: number;
  /** How we left it ourselves, if nobody waited: the next claim may be written without reading first. */
  released?: { readonly record: LeaseRecord; readonly version: RecordVersion };
}

/**
 * What this process has seen of each record, kept from call to call: without it, callers that wait for less than a lease
 * would begin to count anew each time, and a dead holder's lock would never be taken. Bounded: the id least recently
 * seen is forgotten, which costs requests and never safety.
 */
export class RecordMemory {
  private readonly known = new Map<string, Known>();

  constructor(private readonly settings: LeaseSettings) {}

  /** A record was read, and its answer came at `receivedMs`. */
  saw(id: string, read: ReadLeaseRecord, receivedMs: number): Sighting {
    const known = this.touch(id);
    remember(known, read.record);
    delete known.released;
    const last = known.sighting;
    const isSameVersion = last?.version === read.version;
    const isSameOwner = last !== undefined && ownerSign(last.record) === ownerSign(read.record);
    const isSameWaiter = last !== undefined && waiterSign(last.record) === waiterSign(read.record);
    const lookedAway = last === undefined || receivedMs - last.seenAtMs > 2 * this.settings.waiterPollMs;
    const sighting: Sighting = {
      ...read,
      seenAtMs: receivedMs,
      isAgeUnknown: isSameVersion ? last.isAgeUnknown : !isSameOwner && lookedAway,
      silence: {
        ownerSinceMs: Math.min(
          isSameOwner ? last.silence.ownerSinceMs : receivedMs,
          receivedMs - ownerAgeMs(read.record),
        ),
        waiterSinceMs: isSameWaiter ? last.silence.waiterSinceMs : receivedMs,
        versionSinceMs: isSameVersion ? last.silence.versionSinceMs : receivedMs,
      },
    };
    known.sighting = sighting;
    return sighting;
  }

  /** There is no record. */
  sawNone(id: string): void {
    const known = this.touch(id);
    delete known.released;
    delete known.sighting;
  }

  /** The store said how old a version that was seen is; the answer came at `receivedMs`. */
  learnedAge(id: string, seen: Sighting, ageMs: number, receivedMs: number): Sighting {
    const { ownerSinceMs, waiterSinceMs, versionSinceMs } = seen.silence;
    const writtenMs = receivedMs - ageMs;
    const sighting: Sighting = {
      ...seen,
      isAgeUnknown: false,
      silence: {
        ownerSinceMs: Math.min(ownerSinceMs, writtenMs - ownerAgeMs(seen.record)),
        waiterSinceMs: Math.min(waiterSinceMs, writtenMs),
        versionSinceMs: Math.min(versionSinceMs, writtenMs),
      },
    };
    const known = this.touch(id);
    if (known.sighting?.version === seen.version) known.sighting = sighting;
    return sighting;
  }

  /** We freed it ourselves, and this is how. */
  keepReleased(id: string, record: LeaseRecord, version: RecordVersion): void {
    const known = this.touch(id);
    remember(known, record);
    known.released = { record, version };
  }

  /** Hands out what is known without reading: once, because whoever asks is about to change it. */
  takeReleased(id: string): Known["released"] | "never met" | undefined {
    const known = this.known.get(id);
    if (known === undefined) return "never met";
    const released = known.released;
    delete known.released;
    return released;
  }

  /** Since when this version was there, at the latest, if it is the one that was seen last. */
  versionSinceMs(id: string, version: RecordVersion | "absent"): number | undefined {
    const sighting = this.known.get(id)?.sighting;
    return sighting?.version === version ? sighting.silence.versionSinceMs : undefined;
  }

  /** What a fence must not fall below, whatever became of the record. */
  greatestFence(id: string): number {
    return this.known.get(id)?.fence ?? 0;
  }

  get size(): number {
    return this.known.size;
  }

  private touch(id: string): Known {
    const known = this.known.get(id) ?? { fence: 0 };
    this.known.delete(id);
    this.known.set(id, known);
    if (this.known.size > this.settings.rememberedIds) {
      const [oldest] = this.known.keys();
      if (oldest !== undefined) this.known.delete(oldest);
    }
    return known;
  }
}

function remember(known: Known, record: StoredLeaseRecord): void {
  if (!isForeign(record)) known.fence = Math.max(known.fence, record.fence);
}

function ownerAgeMs(record: StoredLeaseRecord): number {
  return isForeign(record) ? 0 : record.ownerAgeMs;
}

/** Changes exactly when the owner writes. A foreign owner's only sign is its expiry. */
function ownerSign(record: StoredLeaseRecord): string {
  return isForeign(record)
    ? `${record.ownerId} until ${record.expiresAt}`
    : `${record.ownerId} ${record.fence}/${record.renewSeq}`;
}

/** Changes whenever the waiter renews its place. */
function waiterSign(record: StoredLeaseRecord): string {
  return `${record.waitingOwnerId} until ${record.waiterExpiresAt}`;
}
