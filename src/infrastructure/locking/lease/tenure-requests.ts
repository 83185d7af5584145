import { instant, pause, type Instant, type LeaseEnvironment } from "./lease-environment";
import { isForeign, type StoredLeaseRecord } from "./lease-record";
import { TransientLeaseStoreError, type LeaseRecordStore, type RecordVersion } from "./lease-record-store";
import { deadlySilenceMs, type LeaseSettings } from "./lease-settings";
import type { RecordMemory, Sighting } from "./record-memory";

/** What all tenures of one process have in common. */
export interface LeaseSurroundings extends LeaseEnvironment {
  readonly store: LeaseRecordStore;
  readonly memory: RecordMemory;
  readonly settings: LeaseSettings;
}

interface SentClaim {
  readonly renewSeq: number;
  readonly ifVersion: RecordVersion | "absent";
  /** The claim cannot have been applied before this. */
  notBefore: Instant;
}

/** One write per second and object is what GCS allows; the jitter keeps refused writers from coming back together. */
const THROTTLED_PAUSE_MS = 1_050;
const THROTTLED_JITTER_MS = 250;

/** Claims older than these are forgotten: one that is found later is renewed before it is believed. */
const REMEMBERED_CLAIMS = 16;

/**
 * The requests of one tenure, from its first attempt to the last trace of it: bounded in time, one after the other, and
 * aware of the writes whose answer never came, because each of them may still be applied.
 */
export class TenureRequests {
  private readonly claims: SentClaim[] = [];
  /** Versions that a write of unknown fate was conditional on. Once a version is gone, so is the danger. */
  private readonly undecided = new Set<RecordVersion | "absent">();
  private writableFromMs = -Infinity;
  /** Until when others respect what we wrote about ourselves. */
  private countsUntilMs = -Infinity;
  private maybeNamed = false;

  constructor(
    readonly resourceId: string,
    readonly ownerId: string,
    readonly surroundings: LeaseSurroundings,
  ) {}

  async read(): Promise<Sighting | null> {
    const { store, memory, clock } = this.surroundings;
    const sentAt = instant(clock);
    const seen = await this.bounded(store.read(this.resourceId));
    const version = seen?.version ?? "absent";
    this.stillUndecidedAt(version, sentAt);
    this.maybeNamed = (seen !== null && this.isNamedIn(seen.record)) || this.undecided.has(version);
    if (seen !== null) return memory.saw(this.resourceId, seen, clock.monotonicMs());
    memory.sawNone(this.resourceId);
    return null;
  }

  /** Asks the store for the age of what was read; null if that is no longer current. */
  async learnAge(seen: Sighting): Promise<Sighting | null> {
    const { store, memory, clock } = this.surroundings;
    const ageMs = await this.bounded(store.ageMs(this.resourceId, seen.version));
    if (ageMs === null) return null;
    return memory.learnedAge(this.resourceId, seen, ageMs, clock.monotonicMs());
  }

  /** After a conflict, nothing is known but that the version has changed: read, for it may have been by us. */
  async write(
    record: StoredLeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<{ readonly version: RecordVersion; readonly sentAt: Instant } | "conflict"> {
    const { store, clock, random } = this.surroundings;
    if (this.throttledForMs > 0) await pause(clock, this.throttledForMs);

    const sentAt = instant(clock);
    this.undecided.add(ifVersion);
    const namesUs = this.isNamedIn(record);
    const countsUntilMs = sentAt.monotonicMs + this.countsForMs(record);
    this.countsUntilMs = Math.max(this.countsUntilMs, countsUntilMs);
    this.maybeNamed ||= namesUs;
    if (record.ownerId === this.ownerId && !isForeign(record))
      this.rememberClaim({ renewSeq: record.renewSeq, ifVersion, notBefore: sentAt });
    try {
      const answer = await this.bounded(store.write(this.resourceId, record, ifVersion));
      this.undecided.delete(ifVersion);
      if (answer === "conflict") return "conflict";
      this.maybeNamed = namesUs;
      this.countsUntilMs = countsUntilMs;
      return { version: answer, sentAt };
    } catch (error) {
      if (error instanceof TransientLeaseStoreError && error.throttled)
        this.writableFromMs = clock.monotonicMs() + THROTTLED_PAUSE_MS + random() * THROTTLED_JITTER_MS;
      throw error;
    }
  }

  /**
   * From when the lease counts that a record found by reading stands for: never from the reading, which may come long
   * after the write. Undefined if the claim is none that we remember.
   */
  claimedNotBefore(record: StoredLeaseRecord): Instant | undefined {
    if (isForeign(record) || record.ownerId !== this.ownerId) return undefined;
    return this.claims.find((claim) => claim.renewSeq === record.renewSeq)?.notBefore;
  }

  /** Whether a write of ours could still change a record that has this version now. */
  mayStillLand(version: RecordVersion | "absent"): boolean {
    return this.undecided.has(version);
  }

  get nothingUndecided(): boolean {
    return this.undecided.size === 0;
  }

  /** How long the next write waits before it is sent, because the store asked for it. */
  get throttledForMs(): number {
    return this.writableFromMs - this.surroundings.clock.monotonicMs();
  }

  /** Whether the record names us, or may come to. */
  get mayBeNamed(): boolean {
    return this.maybeNamed;
  }

  /**
   * Whether everybody takes whatever is left of us for dead, and a whole lease was spent since `triedSinceMs` on taking it
   * away.
   */
  isTakenForDead(triedSinceMs: number): boolean {
    const { settings, clock } = this.surroundings;
    const triedUntilMs = triedSinceMs + deadlySilenceMs(settings.ttlMs, settings);
    return clock.monotonicMs() > Math.max(triedUntilMs, this.countsUntilMs);
  }

  /** For how long others respect what this record says about us. */
  private countsForMs(record: StoredLeaseRecord): number {
    const { settings } = this.surroundings;
    if (record.ownerId === this.ownerId) return deadlySilenceMs(settings.ttlMs, settings);
    return record.waitingOwnerId === this.ownerId ? settings.waiterTtlMs + settings.marginMs : -Infinity;
  }

  private isNamedIn(record: StoredLeaseRecord): boolean {
    return record.ownerId === this.ownerId || record.waitingOwnerId === this.ownerId;
  }

  private rememberClaim(claim: SentClaim): void {
    this.claims.push(claim);
    if (this.claims.length > REMEMBERED_CLAIMS) this.claims.shift();
  }

  /** A read that was sent at `sentAt` showed `version`: what is conditional on another one will never be applied now. */
  private stillUndecidedAt(version: RecordVersion | "absent", sentAt: Instant): void {
    for (const other of this.undecided) if (other !== version) this.undecided.delete(other);
    for (const claim of this.claims) if (claim.ifVersion === version) claim.notBefore = sentAt;
  }

  private bounded<T>(answer: Promise<T>): Promise<T> {
    const { clock, settings } = this.surroundings;
    return new Promise<T>((resolve, reject) => {
      const cancel = clock.after(settings.requestTimeoutMs, () => {
        reject(new TransientLeaseStoreError(`no answer within ${settings.requestTimeoutMs} ms`));
      });
      answer.then(
        (value) => {
          cancel();
          resolve(value);
        },
        (error: Error) => {
          cancel();
          reject(error);
        },
      );
    });
  }
}
