import type { LeaseRecord, StoredLeaseRecord } from "./lease-record";
import { isForeign } from "./lease-record";
import type { RecordVersion } from "./lease-record-store";
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

interface Sighting extends Silence {
  readonly version: RecordVersion;
  readonly ownerKey: string;
  readonly waiterKey: string;
  readonly ownerAgeMs: number;
  readonly seenAtMs: number;
  /** First met after a long look away: only the store can tell how old it is. */
  readonly ageUnknown: boolean;
}

interface Known {
  sighting?: Sighting;
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
  saw(id: string, version: RecordVersion, record: StoredLeaseRecord, receivedMs: number): void {
    const known = this.touch(id);
    delete known.released;
    const last = known.sighting;
    const ownerKey = ownerSign(record);
    const waiterKey = waiterSign(record);
    const ownerAgeMs = isForeign(record) ? 0 : record.ownerAgeMs;
    const sameOwner = last?.ownerKey === ownerKey;
    const sameVersion = last?.version === version;
    const lookedAway = last === undefined || receivedMs - last.seenAtMs > 2 * this.settings.waiterPollMs;
    known.sighting = {
      version,
      ownerKey,
      waiterKey,
      ownerAgeMs,
      seenAtMs: receivedMs,
      ownerSinceMs: Math.min(sameOwner ? last.ownerSinceMs : receivedMs, receivedMs - ownerAgeMs),
      waiterSinceMs: last?.waiterKey === waiterKey ? last.waiterSinceMs : receivedMs,
      versionSinceMs: sameVersion ? last.versionSinceMs : receivedMs,
      ageUnknown: sameVersion ? last.ageUnknown : !sameOwner && lookedAway,
    };
  }

  /** There is no record. */
  sawNone(id: string): void {
    const known = this.touch(id);
    delete known.released;
    delete known.sighting;
  }

  /** The store said how old a version is; the answer came at `receivedMs`. */
  learnedAge(id: string, version: RecordVersion, ageMs: number, receivedMs: number): void {
    const last = this.known.get(id)?.sighting;
    if (last === undefined || last.version !== version) return;
    const writtenMs = receivedMs - ageMs;
    this.touch(id).sighting = {
      ...last,
      ownerSinceMs: Math.min(last.ownerSinceMs, writtenMs - last.ownerAgeMs),
      waiterSinceMs: Math.min(last.waiterSinceMs, writtenMs),
      versionSinceMs: Math.min(last.versionSinceMs, writtenMs),
      ageUnknown: false,
    };
  }

  wantsAge(id: string): boolean {
    return this.known.get(id)?.sighting?.ageUnknown ?? false;
  }

  /** Of the record seen last. What is not known, or was forgotten meanwhile, counts as having happened just now. */
  silence(id: string, nowMs: number): Silence {
    return (
      this.known.get(id)?.sighting ?? { ownerSinceMs: nowMs, waiterSinceMs: nowMs, versionSinceMs: nowMs }
    );
  }

  /** We freed it ourselves, and this is how. */
  keepReleased(id: string, record: LeaseRecord, version: RecordVersion): void {
    this.touch(id).released = { record, version };
  }

  /** Hands out what is known without reading: once, because whoever asks is about to change it. */
  takeReleased(id: string): Known["released"] | "never met" | undefined {
    const known = this.known.get(id);
    if (known === undefined) return "never met";
    const released = known.released;
    delete known.released;
    return released;
  }

  get size(): number {
    return this.known.size;
  }

  private touch(id: string): Known {
    const known = this.known.get(id) ?? {};
    this.known.delete(id);
    this.known.set(id, known);
    if (this.known.size > this.settings.rememberedIds) {
      const [oldest] = this.known.keys();
      if (oldest !== undefined) this.known.delete(oldest);
    }
    return known;
  }
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
