import { systemLockClock, type LockClock } from "../../lock-clock";
import { parseLeaseRecord, serializeLeaseRecord, type StoredLeaseRecord } from "../protocol/lease-record";
import {
  recordVersion,
  type LeaseRecordStore,
  type ReadLeaseRecord,
  type RecordVersion,
} from "../protocol/lease-record-store";

interface Stored {
  readonly text: string;
  readonly version: RecordVersion;
  readonly writtenAtMs: number;
}

/**
 * Excludes: the callers of this process that share this object.
 * Survives: nothing; it is gone with the process.
 * Not for: production. It is the lock that tests use in place of a bucket, under the protocol that production runs.
 */
export class MemoryLeaseRecordStore implements LeaseRecordStore {
  private readonly stored = new Map<string, Stored>();
  /** One for all ids and never set back, so that no version is ever seen twice. */
  private writes = 0;

  constructor(private readonly clock: LockClock = systemLockClock) {}

  /** Marked async so that what is thrown while parsing becomes a rejection. */
  async read(id: string): Promise<ReadLeaseRecord | null> {
    const stored = this.stored.get(id);
    if (stored === undefined) return null;
    const record = parseLeaseRecord(stored.text, `the record of "${id}" in memory`);
    return { record, version: stored.version, storeNowMs: this.clock.wallMs() };
  }

  ageMs(id: string, version: RecordVersion): Promise<number | null> {
    const stored = this.stored.get(id);
    if (stored?.version !== version) return Promise.resolve(null);
    return Promise.resolve(Math.floor(this.clock.monotonicMs() - stored.writtenAtMs));
  }

  write(
    id: string,
    record: StoredLeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<RecordVersion | "conflict"> {
    const current = this.stored.get(id)?.version ?? "absent";
    if (current !== ifVersion) return Promise.resolve("conflict");
    return Promise.resolve(this.putText(id, serializeLeaseRecord(record)));
  }

  remove(id: string, ifVersion: RecordVersion): Promise<void> {
    if (this.stored.get(id)?.version === ifVersion) this.stored.delete(id);
    return Promise.resolve();
  }

  /** Puts anything there, as somebody else with access to the bucket could. */
  putText(id: string, text: string): RecordVersion {
    const version = recordVersion((this.writes += 1));
    this.stored.set(id, { text, version, writtenAtMs: this.clock.monotonicMs() });
    return version;
  }

  /** What is there, for looking at. */
  getText(id: string): string | undefined {
    return this.stored.get(id)?.text;
  }
}
