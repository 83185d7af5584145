import type { LeaseRecord, StoredLeaseRecord } from "./lease-record";

/** Names one state of one record. Opaque: compared for equality only, never ordered. */
export type RecordVersion = string & { readonly recordVersion: unique symbol };

/** For adapters: gives a store's own generation, counter or digest its name. */
export function recordVersion(value: string | number | bigint): RecordVersion {
  return String(value) as RecordVersion;
}

/**
 * All that the lease protocol asks of a backend: one small record per id, compared and swapped.
 *
 * Every adapter MUST
 * - apply `write` and `remove` atomically, and only if the record still has exactly the version that was named
 *   (`"absent"`: only if there is none); on a mismatch change nothing;
 * - give each state a version that this id never had before, also after a `remove`, so that a request that arrives very
 *   late cannot hit a newer state by accident;
 * - answer `read` with a record and *its own* version, never with the content of one state and the version of another,
 *   and see every write that was confirmed before the read was sent;
 * - send each request at most once and leave repeating to the protocol: a hidden retry turns "it was I" into a conflict;
 * - take ids literally: case, length, `../../`, spaces and unicode make different records;
 * - keep the record until it is removed: an expiry of the backend's own would forget the fence;
 * - reject with `TransientLeaseStoreError` where the same request may succeed later, saying `throttled` when the backend
 *   asked for less (429); with `PermanentLeaseStoreError` where it never will (401, 403, no such bucket); with
 *   `UnreadableLeaseRecordError` where the stored bytes are no lease record. It never answers null for any of these:
 *   null means "there is certainly none".
 *
 * A rejected or unanswered `write` may still have been applied, or may be applied later. The protocol reckons with both;
 * an adapter need not find out. It need not bound its requests in time either, but SHOULD give up what hangs.
 */
export interface LeaseRecordStore {
  read(id: string): Promise<ReadLeaseRecord | null>;

  /**
   * How long ago this version was written, in whole milliseconds by the store's own clock, never more than the truth.
   * Null if it is no longer the current version. Asked seldom: when a held record is met for the first time.
   */
  ageMs(id: string, version: RecordVersion): Promise<number | null>;

  /** The new version, or `"conflict"` when the record did not have the one that was expected. */
  write(
    id: string,
    record: StoredLeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<RecordVersion | "conflict">;

  /**
   * As `write`, by a store that has a clock of its own: the record's fence is stored and answered as it is, or as that
   * clock's time in Unix milliseconds plus one, whichever is greater. Stores without a clock leave it out.
   */
  claim?(
    id: string,
    record: LeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<ClaimedLease | "conflict">;

  /** Removes the record if it still has this version; does nothing otherwise. The protocol itself never removes. */
  remove(id: string, ifVersion: RecordVersion): Promise<void>;

  /**
   * Calls back when somebody may have freed this record; returns how to stop listening. A hint that may be missed or come
   * for nothing: the protocol looks by itself as well, and decides by what it reads.
   */
  onReleased?(id: string, wake: () => void): () => void;
}

export interface ClaimedLease {
  readonly version: RecordVersion;
  readonly fence: number;
}

export interface ReadLeaseRecord {
  readonly record: StoredLeaseRecord;
  readonly version: RecordVersion;
  /** The store's wall clock when it answered, in Unix milliseconds; whole seconds are enough. Judges foreign records only. */
  readonly storeNowMs: number;
}

/** The request failed in a way that says nothing about the next one: no answer, a reset, 5xx, 429. */
export class TransientLeaseStoreError extends Error {
  override readonly name = "TransientLeaseStoreError";
  /** The backend asked for fewer writes (429): the next one waits a little over a second. */
  readonly throttled: boolean;

  constructor(message: string, options: ErrorOptions & { readonly throttled?: boolean } = {}) {
    super(message, options);
    this.throttled = options.throttled ?? false;
  }
}

/** The request can never succeed as things are: no permission, no such bucket. Not repeated. */
export class PermanentLeaseStoreError extends Error {
  override readonly name = "PermanentLeaseStoreError";
}
