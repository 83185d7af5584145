import { instant, pause } from "../protocol/lease-environment";
import {
  UnreadableLeaseRecordError,
  type LeaseRecord,
  type StoredLeaseRecord,
} from "../protocol/lease-record";
import type { RecordVersion } from "../protocol/lease-record-store";
import { renewed } from "../protocol/lease-transitions";
import type { TenureRequests } from "./tenure-requests";
import { Withdrawal } from "./withdrawal";

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 1_000;

/** What the owner wrote last. */
interface Own {
  readonly record: LeaseRecord;
  readonly version: RecordVersion;
}

/**
 * Renews a lease once more, for `restMs` instead of its usual time, and leaves it: it keeps others out for that long, and
 * for their margin, without any process behind it. Goes on trying until it is confirmed, until the time is over (what is
 * left is then withdrawn), or until the client's time to close is; never rejects.
 */
export async function renewForTheLastTime(requests: TenureRequests, own: Own, restMs: number): Promise<void> {
  const { clock, random, ending } = requests.surroundings;
  const untilMs = clock.monotonicMs() + restMs;
  let { version, record: found }: { version: RecordVersion; record: StoredLeaseRecord } = own;
  let { renewSeq } = own.record;
  for (let retryMs = FIRST_RETRY_MS; !ending.isCalled;) {
    const ttlMs = Math.ceil(untilMs - clock.monotonicMs());
    if (ttlMs <= 0) return new Withdrawal(requests, { record: own.record, version: undefined }).run();
    try {
      renewSeq += 1;
      const last = renewed({ ...own.record, ttlMs }, found, renewSeq, instant(clock));
      if ((await requests.write(last, version)) !== "conflict") return;
      const seen = await requests.read();
      // Another's: it was lost meanwhile.
      if (seen?.record.ownerId !== requests.ownerId) return;
      ({ version, record: found } = seen);
    } catch (error) {
      if (error instanceof UnreadableLeaseRecordError) return;
      await pause(clock, retryMs * (0.5 + random() / 2), ending);
      retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
    }
  }
}
