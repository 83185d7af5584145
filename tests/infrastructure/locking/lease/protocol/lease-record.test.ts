import {
  type LeaseRecord,
  parseLeaseRecord,
  serializeLeaseRecord,
} from "../../../../../src/infrastructure/locking/lease/protocol/lease-record";

const held: LeaseRecord = {
  ownerId: "web-2:4711:a1b2",
  expiresAt: 1_790_000_030.25,
  waitingOwnerId: "web-3:99:c3d4",
  waiterExpiresAt: 1_790_000_031.5,
  ttlMs: 30_000,
  renewSeq: 7,
  fence: 1_790_000_000_123,
  ownerAgeMs: 250,
  holder: { host: "web-2", pid: 4711, operation: "capture", since: 1_790_000_000.123 },
};

describe("the lease record as JSON", () => {
  test("the lease record as JSON is read back exactly as it was written", () => {
    expect(parseLeaseRecord(serializeLeaseRecord(held), "here")).toEqual(held);
  });

  test("the lease record as JSON begins with the four fields that other implementations read, times in seconds", () => {
    const keys = Object.keys(JSON.parse(serializeLeaseRecord(held)) as object);
    expect(keys.slice(0, 4)).toEqual(["ownerId", "expiresAt", "waitingOwnerId", "waiterExpiresAt"]);
  });
});
