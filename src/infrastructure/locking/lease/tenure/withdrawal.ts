import { pause } from "../protocol/lease-environment";
import type { LeaseRecord, StoredLeaseRecord } from "../protocol/lease-record";
import { waitersIn } from "../protocol/lease-line";
import { isForeign, UnreadableLeaseRecordError } from "../protocol/lease-record";
import type { RecordVersion } from "../protocol/lease-record-store";
import { neverHeld, released, restated, withLine } from "../protocol/lease-transitions";
import { Stop } from "./stop";
import type { TenureRequests } from "./tenure-requests";

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 1_000;

/**
 * Takes a tenure's name out of its record, as owner and as waiter, and keeps at it: one try is not enough, because its
 * answer may be lost, and because an older claim may be applied after it. What may still be on its way is shut out by
 * writing the record again under a new version.
 *
 * Ends when the record certainly never names the tenure again, when its trace is so old that everybody takes it for
 * dead, or when the client's time to close is over: it is bounded even when the store stays away.
 */
export class Withdrawal {
  private readonly stopped = new Stop();
  private untriedVersion: RecordVersion | undefined;

  /** `own` is what an owner wrote last, with the version it got: where there is one, the first try need not read. */
  constructor(
    private readonly requests: TenureRequests,
    private readonly own?: { readonly record: LeaseRecord; readonly version: RecordVersion | undefined },
  ) {
    this.untriedVersion = own?.version;
  }

  /** The tenure is wanted again after all; the step under way is finished first. */
  stop(): void {
    this.stopped.call();
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { clock, random, ending } = this.requests.surroundings;
    const stopListening = ending.onCalled(() => this.stop());
    const startedMs = clock.monotonicMs();
    let retryMs = FIRST_RETRY_MS;
    while (!this.stopped.isCalled) {
      try {
        if (await this.step()) break;
        retryMs = FIRST_RETRY_MS;
      } catch (error) {
        // It names nobody. Everything else may pass, as for a renewal: even a refusal may be a key that is being rotated.
        if (error instanceof UnreadableLeaseRecordError) break;
        if (ending.isCalled || this.requests.isTakenForDead(startedMs)) break;
        await pause(clock, retryMs * (0.5 + random() / 2), this.stopped);
        retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
      }
    }
    stopListening();
  }

  /** True when there is nothing left to do. */
  private async step(): Promise<boolean> {
    const { own, untriedVersion } = this;
    this.untriedVersion = undefined;
    if (own !== undefined && untriedVersion !== undefined)
      return this.put(released(own.record, own.record), untriedVersion);

    const { ownerId } = this.requests;
    const { settings, clock } = this.requests.surroundings;
    const seen = await this.requests.read();
    if (seen === null)
      return !this.requests.mayStillLand("absent") || this.put(neverHeld(settings.ttlMs), "absent");

    const { record, version, silence } = seen;
    const ownerAgeMs = clock.monotonicMs() - silence.ownerSinceMs;
    if (record.ownerId === ownerId) {
      // A foreign waiter may have written our record back without our own fields.
      const mine = isForeign(record) ? (own?.record ?? neverHeld(settings.ttlMs)) : record;
      return this.put(released(mine, record), version);
    }
    const waiters = waitersIn(record);
    if (waiters.includes(ownerId)) {
      const others = waiters.filter((waiter) => waiter !== ownerId);
      const change = {
        by: ownerId,
        waiters: others,
        frontUntilMs: clock.wallMs() + settings.waiterTtlMs,
      };
      return this.put(withLine(record, change, ownerAgeMs), version);
    }
    if (this.requests.mayStillLand(version)) return this.put(restated(record, ownerAgeMs), version);
    return true;
  }

  private async put(record: StoredLeaseRecord, ifVersion: RecordVersion | "absent"): Promise<boolean> {
    const written = await this.requests.write(record, ifVersion);
    if (written === "conflict") return false;
    if (record.ownerId === null && record.waitingOwnerId === null && !isForeign(record))
      this.requests.surroundings.memory.keepReleased(this.requests.resourceId, record, written.answer);
    return true;
  }
}
