import type { LockHolder } from "../../../../application/ports/lock-provider";
import type { AttemptRequest } from "../../lock-backend";
import { judge, type Verdict } from "../protocol/lease-judgement";
import { joined, waitersIn } from "../protocol/lease-line";
import {
  isForeign,
  UnreadableLeaseRecordError,
  type LeaseRecord,
  type StoredLeaseRecord,
} from "../protocol/lease-record";
import { TransientLeaseStoreError, type RecordVersion } from "../protocol/lease-record-store";
import { LeaseTenure, type TenureStart } from "./lease-tenure";
import { instant } from "../protocol/lease-environment";
import { claimed, renewed, withLine } from "../protocol/lease-transitions";
import type { Sighting } from "../protocol/record-memory";
import type { TenureRequests } from "./tenure-requests";
import { Withdrawal } from "./withdrawal";

export type LeaseAttempt =
  | { readonly kind: "acquired"; readonly tenure: LeaseTenure }
  | { readonly kind: "held"; readonly holder?: LockHolder; readonly turnMs?: number }
  | {
      readonly kind: "contended";
      readonly waitingOwnerId: string;
      readonly holder?: LockHolder;
      readonly turnMs?: number;
    };

/** How often one attempt may find the record changed under its hands before it says "held" and comes back later. */
const ROUNDS = 6;

interface Base {
  readonly record: StoredLeaseRecord | null;
  readonly version: RecordVersion | "absent";
}

/**
 * What this process asks of one record, from the first attempt to acquisition or withdrawal, under one id that nobody
 * used before and that becomes the tenure's. Attempts may be repeated for as long as one likes, by one caller after the
 * other: the registered place stays.
 */
export class LeaseBid {
  private renewSeq = 0;
  /** As the one in front; undefined where somebody else made us that. */
  private placeRenewedAtMs: number | undefined;
  private withdrawal: Withdrawal | undefined;
  private isWanted = true;
  /** Attempts and withdrawal take turns, so that one request of ours is under way and no more. */
  private turn: Promise<unknown> = Promise.resolve();
  private taken = false;
  private wasRefused = false;
  /** Once in each attempt. */
  private mayBeThrottled = true;

  constructor(private readonly requests: TenureRequests) {}

  /** A rejection means that the store failed; what was sent may still be applied, and the next attempt finds out. */
  attempt(request: AttemptRequest): Promise<LeaseAttempt> {
    this.isWanted = true;
    this.withdrawal?.stop();
    return this.inTurn(() => this.tryRounds(request));
  }

  /**
   * Resolves with true when no trace is left, or none that counts; with false when another attempt was made meanwhile,
   * which inherits whatever place there is.
   */
  withdraw(): Promise<boolean> {
    this.isWanted = false;
    return this.inTurn(async () => {
      if (this.isWanted || this.taken) return false;
      this.withdrawal = new Withdrawal(this.requests);
      await this.withdrawal.run();
      this.withdrawal = undefined;
      return !this.isWanted;
    });
  }

  get mayHaveLeftTrace(): boolean {
    return this.requests.mayHaveLeftTrace;
  }

  private inTurn<T>(step: () => Promise<T>): Promise<T> {
    const result = this.turn.then(step);
    this.turn = result.catch(() => undefined);
    return result;
  }

  private async tryRounds(request: AttemptRequest): Promise<LeaseAttempt> {
    if (this.taken) throw new Error(`${this.requests.ownerId} has had its turn`);
    this.mayBeThrottled = true;
    let base = this.knownWithoutReading();
    let refusal: LeaseAttempt = { kind: "held" };
    for (let round = 0; round < ROUNDS; round += 1) {
      const answer =
        base === undefined
          ? await this.readAndAct(request)
          : await this.claim(base.record, base.version, request);
      base = undefined;
      if (answer === "again") continue;
      if (answer.kind !== "again after") return answer;
      refusal = answer.refusal;
    }
    return refusal;
  }

  /** What we left behind ourselves, and what we never met, is probably still so: one request instead of two. */
  private knownWithoutReading(): Base | undefined {
    const { memory } = this.requests.surroundings;
    if (!this.requests.nothingUndecided) return undefined;
    const known = memory.takeReleased(this.requests.resourceId);
    return known === "never met" ? { record: null, version: "absent" } : known;
  }

  private async readAndAct(
    request: AttemptRequest,
  ): Promise<LeaseAttempt | "again" | { kind: "again after"; refusal: LeaseAttempt }> {
    const { settings, clock } = this.requests.surroundings;
    let seen = await this.requests.read();
    if (seen !== null && this.dependsOnAge(seen)) {
      seen = await this.requests.learnAge(seen);
      if (seen === null) return "again";
    }

    const nowMs = clock.monotonicMs();
    const verdict = judge(seen, this.requests.ownerId, nowMs, settings);
    if (verdict.kind === "claimable")
      return this.claim(seen?.record ?? null, seen?.version ?? "absent", request);
    if (seen === null) return "again";
    if (verdict.kind === "mine") return this.enterFound(seen.record, seen.version, request);

    const refusal = refusalFor(verdict, seen.record);
    const isReserved = verdict.kind === "reserved";
    const lastSignMs = this.placeRenewedAtMs ?? seen.silence.waiterSinceMs;
    const placeIsGood = isReserved
      ? !verdict.mayJoin || request.onlyNext === true
      : verdict.place === "mine" && nowMs - lastSignMs < settings.waiterRenewMs;
    // Told to write less, the place has to wait; the first answer need not.
    const mustWait = this.requests.throttledForMs > 0 && !this.wasRefused;
    this.wasRefused = true;
    if (!request.mayWait || placeIsGood || mustWait) return refusal;
    try {
      const frontIsDead = !isReserved && verdict.place === "vacant";
      const registered = await this.register(seen, nowMs - seen.silence.ownerSinceMs, frontIsDead);
      return registered ? refusal : { kind: "again after", refusal };
    } catch (error) {
      // Whether or not the place was got: that somebody is inside was read, and is the answer.
      if (error instanceof TransientLeaseStoreError) return refusal;
      throw error;
    }
  }

  /** Asked once for each owner that is met after a long look away. Of what is free and wanted by nobody, it is no matter. */
  private dependsOnAge({ record, isAgeUnknown }: Sighting): boolean {
    const isWanted = (record.ownerId ?? record.waitingOwnerId) !== null;
    return isAgeUnknown && isWanted && record.ownerId !== this.requests.ownerId;
  }

  private async register(seen: Sighting, ownerAgeMs: number, frontIsDead: boolean): Promise<boolean> {
    const { ownerId, surroundings } = this.requests;
    const change = {
      by: ownerId,
      waiters: joined(ownerId, waitersIn(seen.record), frontIsDead),
      frontUntilMs: surroundings.clock.wallMs() + surroundings.settings.waiterTtlMs,
    };
    const written = await this.requests.write(withLine(seen.record, change, ownerAgeMs), seen.version);
    if (written === "conflict") return false;
    this.placeRenewedAtMs = change.waiters[0] === ownerId ? written.sentAt.monotonicMs : undefined;
    return true;
  }

  private async claim(
    previous: StoredLeaseRecord | null,
    version: RecordVersion | "absent",
    request: AttemptRequest,
  ): Promise<LeaseAttempt | "again"> {
    const { settings, clock, host, pid } = this.requests.surroundings;
    const record = claimed(previous, {
      ownerId: this.requests.ownerId,
      renewSeq: this.renewSeq++,
      ttlMs: settings.ttlMs,
      holder: { host, pid, operation: request.purpose ?? null },
      at: instant(clock),
      fenceAbove: this.requests.fenceAbove,
      waiterTtlMs: settings.waiterTtlMs,
    });
    if (!Number.isSafeInteger(record.fence))
      throw new UnreadableLeaseRecordError(this.requests.resourceId, "its fence cannot grow");
    try {
      const written = await this.requests.claim(record, version);
      if (written === "conflict") return "again";
      const { answer, sentAt } = written;
      return await this.enter({
        record: { ...record, fence: answer.fence },
        version: answer.version,
        from: sentAt,
      });
    } catch (error) {
      // The loser of a race may be told to slow down instead of being told that it lost: look who is there. Where nobody
      // is, the store's own words are the answer, and not that somebody holds it.
      const looksAgain = error instanceof TransientLeaseStoreError && error.throttled && this.mayBeThrottled;
      this.mayBeThrottled = false;
      if (looksAgain) return "again";
      throw error;
    }
  }

  /** An answer was lost, and the claim had been applied. */
  private async enterFound(
    record: StoredLeaseRecord,
    version: RecordVersion,
    request: AttemptRequest,
  ): Promise<LeaseAttempt | "again"> {
    // A foreign waiter wrote our claim back without our own fields.
    if (isForeign(record)) return this.claim(record, version, request);
    const from = this.requests.claimedNotBefore(record);
    // An interrupted withdrawal may have sent a release that is still on its way: a new version shuts it out.
    if (from === undefined || this.requests.mayStillLand(version)) return this.confirm(record, version);
    return this.enter({ record, version, from });
  }

  /** With less than half a lease left, or none, the claim is renewed before anybody relies on it. */
  private async enter(start: TenureStart): Promise<LeaseAttempt | "again"> {
    const tenure = new LeaseTenure(this.requests, start);
    if (tenure.remainingMs() < start.record.ttlMs / 2) return this.confirm(start.record, start.version);
    this.taken = true;
    return { kind: "acquired", tenure };
  }

  private async confirm(record: LeaseRecord, version: RecordVersion): Promise<LeaseAttempt | "again"> {
    const { clock } = this.requests.surroundings;
    const again = renewed(record, record, this.renewSeq++, instant(clock));
    const written = await this.requests.write(again, version);
    if (written === "conflict") return "again";
    return this.enter({ record: again, version: written.answer, from: written.sentAt });
  }
}

function refusalFor(
  verdict: Extract<Verdict, { kind: "held" | "reserved" }>,
  record: StoredLeaseRecord,
): LeaseAttempt {
  const holder = holderOf(record);
  const { turnMs } = verdict;
  if (verdict.kind === "held") return { kind: "held", ...holder, turnMs };
  const { waitingOwnerId } = verdict;
  // Nobody is inside: it is the next in line for whom it is kept.
  const next = record.ownerId === null && { holder: { ownerId: waitingOwnerId, purpose: "next in line" } };
  return { kind: "contended", waitingOwnerId, ...holder, ...next, turnMs };
}

function holderOf(record: StoredLeaseRecord): { holder?: LockHolder } {
  if (record.ownerId === null) return {};
  const own = isForeign(record) ? null : record.holder;
  return {
    holder: {
      ownerId: record.ownerId,
      ...(own === null ? {} : { host: own.host, pid: own.pid, since: new Date(own.since * 1000) }),
      ...(own !== null && own.operation !== null && { purpose: own.operation }),
    },
  };
}
