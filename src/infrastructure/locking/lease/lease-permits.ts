import type { AgreedPermits } from "../slots/agreed-permits";
import { pause } from "./protocol/lease-environment";
import { isForeign, UnreadableLeaseRecordError, type StoredLeaseRecord } from "./protocol/lease-record";
import { PermanentLeaseStoreError, TransientLeaseStoreError } from "./protocol/lease-record-store";
import { neverHeld } from "./protocol/lease-transitions";
import type { TenureRequests } from "./tenure/tenure-requests";

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 1_000;

/** Where the number of permits of a semaphore is kept: a record beside those of its slots. */
export function permitsRecordOf(resourceId: string): string {
  return `${resourceId}#permits`;
}

/** The number of permits of each semaphore in a record of its own, which nobody ever holds. */
export class LeasePermits implements AgreedPermits {
  /** `requestsOn`: of this process, to the record with that id. */
  constructor(private readonly requestsOn: (recordId: string) => TenureRequests) {}

  async read(resourceId: string): Promise<number | null> {
    const recordId = permitsRecordOf(resourceId);
    const seen = await this.requestsOn(recordId).read();
    return seen === null ? null : permitsIn(seen.record, recordId);
  }

  /**
   * What was sent and not answered may be applied at any time. So it is sent again until an answer says what became of it:
   * by then one of these writes has landed, or none of them can any more. Only a process that loses its slots meanwhile,
   * as after a stall, leaves one on its way.
   */
  async replace(
    resourceId: string,
    from: number | null,
    to: number,
    isStillAlone: () => boolean,
  ): Promise<boolean> {
    const recordId = permitsRecordOf(resourceId);
    const requests = this.requestsOn(recordId);
    const { clock, random, ending, settings } = requests.surroundings;
    const record = { ...neverHeld(settings.ttlMs), permits: to };
    let hasSent = false;
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, LAST_RETRY_MS)) {
      try {
        const seen = await requests.read();
        const found = seen === null ? null : permitsIn(seen.record, recordId);
        if (found === to && hasSent) return true;
        if (found !== from) return false;
        if (!isStillAlone()) {
          if (hasSent) throw new TransientLeaseStoreError("its slots were lost before the store answered");
          return false;
        }
        hasSent = true;
        if ((await requests.write(record, seen?.version ?? "absent")) !== "conflict") return true;
      } catch (error) {
        const isFinal =
          error instanceof PermanentLeaseStoreError || error instanceof UnreadableLeaseRecordError;
        if (isFinal || !hasSent || ending.isCalled || !isStillAlone()) throw error;
        await pause(clock, retryMs * (0.5 + random() / 2), ending);
      }
    }
  }
}

function permitsIn(record: StoredLeaseRecord, place: string): number {
  if (isForeign(record) || record.permits === undefined)
    throw new UnreadableLeaseRecordError(place, "it has no number of permits");
  return record.permits;
}
