import { RENEWALS_PER_LEASE } from "../../../../application/time-budgets";
import { LockLostError } from "../../../../application/ports/lock-errors";
import type { Tenure } from "../../lock-backend";
import { Loss } from "../../hold/loss";
import { lineIn } from "../protocol/lease-line";
import { instant, pause, type Instant } from "../protocol/lease-environment";
import type { LeaseRecord, StoredLeaseRecord } from "../protocol/lease-record";
import { UnreadableLeaseRecordError } from "../protocol/lease-record";
import { TransientLeaseStoreError, type RecordVersion } from "../protocol/lease-record-store";
import { renewed } from "../protocol/lease-transitions";
import { renewForTheLastTime } from "./last-renewal";
import { Stop } from "./stop";
import type { TenureRequests } from "./tenure-requests";
import { Withdrawal } from "./withdrawal";

/** What the owner of a tenure may want to hear of; all are called synchronously and must not throw. */
export interface TenureListener {
  onRenewed?(): void;
  /** Once per waiter that asks. */
  onWaiter?(waitingOwnerId: string): void;
  onLost?(reason: string): void;
}

export interface TenureStart {
  readonly record: LeaseRecord;
  readonly version: RecordVersion;
  /** Before this, the claim cannot have been applied: the lease counts from here. */
  readonly from: Instant;
}

const LEASE_ENDED = "its lease ended before a renewal was confirmed";
/** What is left of a lease in its last fraction of a millisecond is not worth a timer, which might never end it. */
const SHORTEST_REST_MS = 1;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 1_000;

/**
 * One acquisition, from its claim to its release: renews in the background, knows its own end without asking anybody,
 * and is lost at that end, or when the record names somebody else, and for no other reason. A failed or refused renewal
 * is a question to be asked again, as long as the lease lasts.
 */
export class LeaseTenure implements Tenure {
  readonly fencingToken: bigint;
  private readonly loss = new Loss();
  private readonly releasing = new Stop();
  /** Called with a release or a loss: what sleeps until the next renewal must not be left behind. */
  private readonly over = new Stop();
  private record: LeaseRecord;
  private version: RecordVersion;
  /** The last sign of life that certainly reached the store cannot have reached it before this. */
  private from: Instant;
  private renewSeq: number;
  private renewAtMs: number;
  private lookAtMs = Infinity;
  private failures = 0;
  /** The last renewal may have been applied: nobody said no, and nobody said yes. */
  private isUnsettled = false;
  private cancelDeadline: () => void = () => undefined;
  private listener: TenureListener = {};
  private readonly toldOf = new Set<string>();
  private background: Promise<void> | undefined;
  private released: Promise<void> | undefined;

  constructor(
    private readonly requests: TenureRequests,
    start: TenureStart,
  ) {
    this.record = start.record;
    this.version = start.version;
    this.from = start.from;
    this.renewSeq = start.record.renewSeq;
    this.renewAtMs = this.nextRenewal();
    this.fencingToken = BigInt(start.record.fence);
  }

  get lost(): AbortSignal {
    return this.loss.signal;
  }

  /** Begins to renew; with `watchForWaiters` it also looks at the record in between. */
  begin(listener: TenureListener = {}, watchForWaiters = false): void {
    this.listener = listener;
    if (watchForWaiters) this.lookAtMs = this.nextLook();
    this.armDeadline();
    this.background = this.live();
  }

  assertHeld(): void {
    if (this.hasEnded()) this.lose(LEASE_ENDED);
    if (this.loss.reason !== null) throw new LockLostError(this.requests.resourceId, this.loss.reason);
    if (this.releasing.isCalled) throw new LockLostError(this.requests.resourceId, "it was released");
  }

  /** How much of the lease is left, by whichever clock says less. */
  remainingMs(): number {
    const now = instant(this.requests.surroundings.clock);
    return Math.min(
      this.from.monotonicMs + this.record.ttlMs - now.monotonicMs,
      // The monotonic clock may have stood still while the machine slept.
      this.from.wallMs + this.record.ttlMs - now.wallMs,
    );
  }

  /** After a loss, too: whatever of ours is still to land must not stay. */
  release(): Promise<void> {
    this.released ??= this.end();
    return this.released;
  }

  /** Instead of a release; what is lost has nothing left to leave. */
  leaveFor(restMs: number): Promise<void> {
    this.released ??= this.leave(this.nowMs() + restMs);
    return this.released;
  }

  /** Ends the tenure before its owner wanted it. */
  revoke(reason: string): void {
    this.lose(reason);
  }

  private async leave(untilMs: number): Promise<void> {
    await this.stop();
    if (this.loss.reason !== null) return this.end();
    const { record, version, renewSeq } = this;
    await renewForTheLastTime(
      this.requests,
      { record: { ...record, renewSeq }, version },
      untilMs - this.nowMs(),
    );
  }

  private async end(): Promise<void> {
    await this.stop();
    // What is known may be outdated, which costs a conflict; what is lost is read first, for it may be another's by now.
    const version = this.loss.reason === null ? this.version : undefined;
    await new Withdrawal(this.requests, { record: this.record, version }).run();
  }

  private async stop(): Promise<void> {
    this.releasing.call();
    this.over.call();
    this.cancelDeadline();
    await this.background;
  }

  private async live(): Promise<void> {
    const { clock } = this.requests.surroundings;
    while (!this.isOver()) {
      const renewalIsNext = this.renewAtMs <= this.lookAtMs;
      const dueMs = renewalIsNext ? this.renewAtMs : this.lookAtMs;
      await pause(clock, dueMs - this.nowMs(), this.over);
      if (this.isOver()) return;
      if (this.hasEnded()) return this.lose(LEASE_ENDED);
      try {
        if (!renewalIsNext) await this.look();
        else if (!(await this.wasRenewed())) await this.renew();
        this.failures = 0;
      } catch {
        this.retryLater();
      }
    }
  }

  /** A late answer is still to be read in the record. Not asked twice in a row, for reads may be what fails. */
  private async wasRenewed(): Promise<boolean> {
    const { isUnsettled, from } = this;
    this.isUnsettled = false;
    if (isUnsettled) await this.look();
    return this.isOver() || this.from !== from;
  }

  private async renew(): Promise<void> {
    this.renewSeq += 1;
    const { clock } = this.requests.surroundings;
    const next = renewed(this.record, this.record, this.renewSeq, instant(clock));
    const written = await this.requests.write(next, this.version).catch((error: unknown) => {
      this.isUnsettled = error instanceof TransientLeaseStoreError && !this.requests.nothingUndecided;
      throw error;
    });
    if (written === "conflict") return this.look();
    this.confirmed(next, written.answer, written.sentAt);
  }

  /** Reads, to see who waits, or what became of a write: it may name us, with our write or without it. */
  private async look(): Promise<void> {
    if (this.lookAtMs !== Infinity) this.lookAtMs = this.nextLook();
    let seen;
    try {
      seen = await this.requests.read();
    } catch (error) {
      if (!(error instanceof UnreadableLeaseRecordError)) throw error;
      return this.lose("its record was overwritten by something unreadable");
    }
    if (seen === null) return this.lose("its record is gone");
    const { record, version } = seen;
    if (record.ownerId !== this.requests.ownerId)
      return this.lose(`its record now names ${record.ownerId ?? "no one"} as the owner`);
    const from = this.requests.claimedNotBefore(record);
    if (from !== undefined && from.monotonicMs > this.from.monotonicMs) {
      this.confirmed(this.adopting(record), version, from);
    } else {
      this.record = this.adopting(record);
      this.version = version;
    }
    this.tellOfWaiter();
  }

  private confirmed(record: LeaseRecord, version: RecordVersion, from: Instant): void {
    this.record = record;
    this.version = version;
    this.from = from;
    this.renewAtMs = this.nextRenewal();
    if (this.isOver()) return;
    this.armDeadline();
    this.listener.onRenewed?.();
  }

  /** The waiter is theirs to say, everything else ours: a foreign waiter's write lacks our own fields. */
  private adopting(found: StoredLeaseRecord): LeaseRecord {
    return { ...this.record, ...lineIn(found) };
  }

  private tellOfWaiter(): void {
    const waiter = this.record.waitingOwnerId;
    if (waiter === null || this.isOver() || this.toldOf.has(waiter)) return;
    this.toldOf.add(waiter);
    this.listener.onWaiter?.(waiter);
  }

  /** Each failure is transient as long as the lease lasts: even a refusal may be a key that is just being rotated. */
  private retryLater(): void {
    const { random } = this.requests.surroundings;
    const backOffMs = Math.min(FIRST_RETRY_MS * 2 ** this.failures, LAST_RETRY_MS);
    this.failures = Math.min(this.failures + 1, 10);
    // Waited for here, and not inside the write: a loss or a release must find nothing on its way. A read comes at once.
    const throttledForMs = this.isUnsettled ? 0 : this.requests.throttledForMs;
    const delayMs = Math.max(backOffMs * (0.5 + random() / 2), throttledForMs);
    const retryAtMs = this.nowMs() + delayMs;
    if (this.renewAtMs <= this.nowMs()) this.renewAtMs = retryAtMs;
  }

  private armDeadline(): void {
    this.cancelDeadline();
    this.cancelDeadline = this.requests.surroundings.clock.after(this.remainingMs(), () => {
      if (this.isOver()) return;
      if (this.hasEnded()) this.lose(LEASE_ENDED);
      else this.armDeadline();
    });
  }

  private lose(reason: string): void {
    if (this.isOver()) return;
    this.cancelDeadline();
    this.loss.declare(reason);
    this.over.call();
    this.listener.onLost?.(reason);
  }

  private hasEnded(): boolean {
    return this.remainingMs() < SHORTEST_REST_MS;
  }

  private isOver(): boolean {
    return this.loss.reason !== null || this.releasing.isCalled;
  }

  private nextRenewal(): number {
    return this.from.monotonicMs + this.record.ttlMs / RENEWALS_PER_LEASE;
  }

  private nextLook(): number {
    return this.nowMs() + this.requests.surroundings.settings.waiterCheckMs;
  }

  private nowMs(): number {
    return this.requests.surroundings.clock.monotonicMs();
  }
}
