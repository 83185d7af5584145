import type { LeaseRecord } from "../lease/protocol/lease-record";
import type { LeaseRecordStore, RecordVersion } from "../lease/protocol/lease-record-store";

/** A record store in a world of its own, without any record. */
export interface OpenedLeaseRecords {
  readonly store: LeaseRecordStore;
  /** The same records, reached as another process would reach them. */
  readonly another: LeaseRecordStore;
  /** Puts any bytes there behind the store's back. */
  putText(id: string, text: string): Promise<void> | void;
  close?(): Promise<void> | void;
}

export interface LeaseRecordStoreUnderTest {
  readonly name: string;
  /** Called once per test. */
  open(): OpenedLeaseRecords | Promise<OpenedLeaseRecords>;
  /** How far `ageMs` may lag behind the truth, for stores that tell time coarsely. Default 0. */
  readonly ageLagMs?: number;
  /** It has a clock of its own, and says what a claim's fence is. */
  readonly hasClock?: boolean;
  /** Lets time pass for the store. Default: really. */
  readonly pass?: (ms: number) => Promise<void>;
}

/** What a test works with. */
export interface RecordsWorld extends OpenedLeaseRecords {
  readonly pass: (ms: number) => Promise<void>;
  readonly ageLagMs: number;
}

export interface RecordStoreTest {
  readonly name: string;
  /** Only for stores that have a clock of their own. */
  readonly needsClock?: boolean;
  run(world: RecordsWorld): Promise<void>;
}

export const ID = "payment:a";

/** A record of somebody who holds the lock. */
export const held = (change: Partial<LeaseRecord> = {}): LeaseRecord => ({
  ownerId: "web-2:4711:a1",
  expiresAt: 1_893_456_000.25,
  waitingOwnerId: null,
  waiterExpiresAt: null,
  ttlMs: 30_000,
  renewSeq: 0,
  fence: 1_893_455_985_001,
  ownerAgeMs: 0,
  holder: { host: "web-2", pid: 4711, operation: "capture", since: 1_893_455_985.5 },
  ...change,
});

/** The answer to a write that nobody else was in the way of. */
export async function expected<T>(answer: Promise<T | "conflict">): Promise<T> {
  const written = await answer;
  if (written === "conflict") throw new Error("an expected write met a conflict");
  return written;
}

export function put(
  { store }: RecordsWorld,
  record: LeaseRecord = held(),
  ifVersion: RecordVersion | "absent" = "absent",
): Promise<RecordVersion> {
  return expected(store.write(ID, record, ifVersion));
}
