import {
  isForeign,
  type LeaseRecord,
  parseLeaseRecord,
  serializeLeaseRecord,
  UnreadableLeaseRecordError,
} from "../../../../src/infrastructure/locking/lease/lease-record";

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

function mutated(change: Record<string, unknown>): string {
  return JSON.stringify({ ...held, ...change });
}

describe("the lease record as JSON", () => {
  test("is read back exactly as it was written", () => {
    expect(parseLeaseRecord(serializeLeaseRecord(held))).toEqual(held);
  });

  test("begins with the four fields that other implementations read, times in seconds", () => {
    const keys = Object.keys(JSON.parse(serializeLeaseRecord(held)) as object);
    expect(keys.slice(0, 4)).toEqual(["ownerId", "expiresAt", "waitingOwnerId", "waiterExpiresAt"]);
  });

  test("without ttlMs is somebody else's, and stays somebody else's when written", () => {
    const foreign = parseLeaseRecord('{"ownerId":"pod-1","expiresAt":1678886400.0,"waitingOwnerId":null}');
    expect(isForeign(foreign)).toBe(true);
    expect(foreign).toEqual({
      ownerId: "pod-1",
      expiresAt: 1_678_886_400,
      waitingOwnerId: null,
      waiterExpiresAt: null,
    });
    expect(isForeign(parseLeaseRecord(serializeLeaseRecord(foreign)))).toBe(true);
    expect(isForeign(held)).toBe(false);
  });

  test("tolerates fields that a later version may add", () => {
    expect(parseLeaseRecord(mutated({ region: "eu" }))).toEqual(held);
  });

  test.each([
    ["no JSON", "hello"],
    ["nothing at all", ""],
    ["a torn write", serializeLeaseRecord(held).slice(0, 60)],
    ["a list", "[]"],
    ["null", "null"],
    ["somebody's own file", '{"name":"report","rows":[1,2,3]}'],
    ["an owner without an end", '{"ownerId":"pod-1"}'],
    ["an empty owner", mutated({ ownerId: "" })],
    ["an owner that is a number", mutated({ ownerId: 7 })],
    ["an end that is text", mutated({ expiresAt: "soon" })],
    ["a waiter that is an object", mutated({ waitingOwnerId: {} })],
    ["a ttl of zero", mutated({ ttlMs: 0 })],
    ["a negative count of renewals", mutated({ renewSeq: -1 })],
    ["a fence beyond exact numbers", mutated({ fence: 2 ** 53 })],
    ["a fraction of a fence", mutated({ fence: 1.5 })],
    ["a negative age", mutated({ ownerAgeMs: -1 })],
    ["a holder that is text", mutated({ holder: "web-2" })],
    ["a holder without a host", mutated({ holder: { pid: 1, operation: null, since: 1 } })],
  ])("is refused when it is %s", (_, text) => {
    expect(() => parseLeaseRecord(text)).toThrow(UnreadableLeaseRecordError);
  });
});
