import type { Ending } from "./ending";
import { instant, pause, type Instant, type LeaseEnvironment } from "../protocol/lease-environment";
import { waitersIn } from "../protocol/lease-line";
import { isForeign, type LeaseRecord, type StoredLeaseRecord } from "../protocol/lease-record";
import {
  PermanentLeaseStoreError,
  TransientLeaseStoreError,
  type ClaimedLease,
  type LeaseRecordStore,
  type RecordVersion,
} from "../protocol/lease-record-store";
import { deadlySilenceMs, type LeaseSettings } from "../protocol/lease-settings";
import type { RecordMemory, Sighting } from "../protocol/record-memory";

/** What all tenures of one process have in common. */
export interface LeaseSurroundings extends LeaseEnvironment {
  readonly store: LeaseRecordStore;
  readonly memory: RecordMemory;
  readonly settings: LeaseSettings;
  readonly ending: Ending;
}

/** The store's answer to a write, and from when on it may have been applied. */
export type Sent<Answer> = { readonly answer: Answer; readonly sentAt: Instant } | "conflict";

interface SentClaim {
  readonly renewSeq: number;
  readonly ifVersion: RecordVersion | "absent";
  /** The claim cannot have been applied before this. */
  notBefore: Instant;
}

/** One write per second and object is what GCS allows; the jitter keeps refused writers from coming back together. */
const THROTTLED_PAUSE_MS = 1_050;
const THROTTLED_JITTER_MS = 250;
/** From one change to the next. */
const CHANGE_MS = 1_000;

/** Claims older than these are forgotten: one that is found later is renewed before it is believed. */
const REMEMBERED_CLAIMS = 16;

/** What a section that outlives its provider is given to hand its lock back. */
const LAST_REQUEST_MS = 2_000;

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
  write(record: StoredLeaseRecord, ifVersion: RecordVersion | "absent"): Promise<Sent<RecordVersion>> {
    const { store } = this.surroundings;
    return this.send(record, ifVersion, () => store.write(this.resourceId, record, ifVersion));
  }

  /** As `write`; the fence is the store's to say, if it has a clock. */
  async claim(record: LeaseRecord, ifVersion: RecordVersion | "absent"): Promise<Sent<ClaimedLease>> {
    const { store } = this.surroundings;
    return this.send<ClaimedLease>(record, ifVersion, async () => {
      if (store.claim !== undefined) return store.claim(this.resourceId, record, ifVersion);
      const version = await store.write(this.resourceId, record, ifVersion);
      return version === "conflict" ? "conflict" : { version, fence: record.fence };
    });
  }

  /** What the next fence has to be greater than. A store's own clock keeps fences growing across a lost record by itself. */
  get fenceAbove(): number {
    const { store, memory, clock } = this.surroundings;
    const nowMs = store.claim === undefined ? Math.floor(clock.wallMs()) : 0;
    return Math.max(nowMs, memory.greatestFence(this.resourceId));
  }

  private async send<Answer>(
    record: StoredLeaseRecord,
    ifVersion: RecordVersion | "absent",
    request: () => Promise<Answer | "conflict">,
  ): Promise<Sent<Answer>> {
    const { clock, random, ending } = this.surroundings;
    if (this.throttledForMs > 0) await pause(clock, this.throttledForMs, ending);

    const sentAt = instant(clock);
    const [wasUndecided, wasNamed] = [this.undecided.has(ifVersion), this.maybeNamed];
    this.undecided.add(ifVersion);
    const namesUs = this.isNamedIn(record);
    const countsUntilMs = sentAt.monotonicMs + this.countsForMs(record);
    this.countsUntilMs = Math.max(this.countsUntilMs, countsUntilMs);
    this.maybeNamed ||= namesUs;
    if (record.ownerId === this.ownerId && !isForeign(record))
      this.rememberClaim({ renewSeq: record.renewSeq, ifVersion, notBefore: sentAt });
    try {
      const answer = await this.bounded(request());
      this.undecided.delete(ifVersion);
      if (answer === "conflict") return "conflict";
      this.maybeNamed = namesUs;
      this.countsUntilMs = countsUntilMs;
      return { answer, sentAt };
    } catch (error) {
      const isThrottled = error instanceof TransientLeaseStoreError && error.throttled;
      if (isThrottled) this.writableFromMs = this.afterThrottling(ifVersion) + random() * THROTTLED_JITTER_MS;
      // Refused: nothing of it can land, and there is nothing of it to take away.
      if (isThrottled || error instanceof PermanentLeaseStoreError) {
        if (!wasUndecided) this.undecided.delete(ifVersion);
        this.maybeNamed = wasNamed;
      }
      throw error;
    }
  }

  /** A second after the change that we know to be the last one; where that is over, another came in between. */
  private afterThrottling(ifVersion: RecordVersion | "absent"): number {
    const { clock, memory } = this.surroundings;
    const nowMs = clock.monotonicMs();
    const nextChangeMs = (memory.versionSinceMs(this.resourceId, ifVersion) ?? -Infinity) + CHANGE_MS;
    return nextChangeMs > nowMs ? nextChangeMs : nowMs + THROTTLED_PAUSE_MS;
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

  /** Whether the record names us, or may come to by something that was sent. */
  get mayHaveLeftTrace(): boolean {
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
    return waitersIn(record).includes(this.ownerId) ? settings.waiterTtlMs + settings.marginMs : -Infinity;
  }

  private isNamedIn(record: StoredLeaseRecord): boolean {
    return record.ownerId === this.ownerId || waitersIn(record).includes(this.ownerId);
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
    const { clock, settings, ending } = this.surroundings;
    const { requestTimeoutMs } = settings;
    const limitMs = ending.isCalled ? Math.min(requestTimeoutMs, LAST_REQUEST_MS) : requestTimeoutMs;
    return new Promise<T>((resolve, reject) => {
      const stopListening = ending.onCalled(() => giveUp("no answer before the lock provider was closed"));
      const cancel = clock.after(limitMs, () => giveUp(`no answer within ${limitMs} ms`));
      const over = (): void => {
        stopListening();
        cancel();
      };
      const giveUp = (reason: string): void => {
        over();
        reject(new TransientLeaseStoreError(reason));
      };
      answer.then(
        (value) => {
          over();
          resolve(value);
        },
        (error: Error) => {
          over();
          reject(error);
        },
      );
    });
  }
}
