import { LeaseClient } from "../../../../src/infrastructure/locking/lease/lease-client";
import { MemoryLeaseRecordStore } from "../../../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import { UnreadableLeaseRecordError } from "../../../../src/infrastructure/locking/lease/protocol/lease-record";
import { TransientLeaseStoreError } from "../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { neverHeld } from "../../../../src/infrastructure/locking/lease/protocol/lease-transitions";

let records: MemoryLeaseRecordStore;
let client: LeaseClient;
const always = (): boolean => true;

beforeEach(() => {
  records = new MemoryLeaseRecordStore();
  client = new LeaseClient(records);
});

afterEach(() => client.close());

/** What becomes of the next writes, one after the other. */
function writesMeet(...fates: ("applied, unanswered" | "lost")[]): { readonly sent: number } {
  const write = records.write.bind(records);
  const seen = { sent: 0 };
  records.write = async (...request) => {
    seen.sent += 1;
    const fate = fates.shift();
    if (fate === undefined) return write(...request);
    if (fate === "applied, unanswered") await write(...request);
    throw new TransientLeaseStoreError("no answer");
  };
  return seen;
}

test("a number of permits is kept in a record of its own, compared and swapped", async () => {
  expect(await client.permits.read("a")).toBeNull();
  expect(await client.permits.replace("a", null, 3, always)).toBe(true);
  expect(await client.permits.replace("a", null, 4, always)).toBe(false);
  expect(await client.permits.replace("a", 3, 5, always)).toBe(true);
  expect(await client.permits.read("a")).toBe(5);
  expect(await client.permits.replace("a", 5, 6, () => false)).toBe(false);
  expect(await client.permits.read("a")).toBe(5);
});

test("a change that was applied without an answer is found, and not made twice", async () => {
  const seen = writesMeet("applied, unanswered");
  expect(await client.permits.replace("a", null, 3, always)).toBe(true);
  expect(seen.sent).toBe(1);
});

test("a change that was not answered is sent again, so that none is left on its way", async () => {
  const seen = writesMeet("lost", "lost");
  expect(await client.permits.replace("a", null, 3, always)).toBe(true);
  expect(seen.sent).toBe(3);
});

test("a change is given up when its slots are no longer the caller's", async () => {
  writesMeet("lost", "lost", "lost");
  let looks = 0;
  const replacing = client.permits.replace("a", null, 3, () => (looks += 1) < 3);
  await expect(replacing).rejects.toBeInstanceOf(TransientLeaseStoreError);
});

test("a record without a number is left alone, and named", async () => {
  await records.write("a#permits", neverHeld(30_000), "absent");
  await expect(client.permits.read("a")).rejects.toThrow(UnreadableLeaseRecordError);
  await expect(client.permits.replace("a", null, 3, always)).rejects.toThrow(
    /a#permits is not a lease record/,
  );
});
