import { strict as assert } from "node:assert";
import type { LeaseRecord } from "../lease/protocol/lease-record";
import type { ClaimedLease, RecordVersion } from "../lease/protocol/lease-record-store";
import { expected, held, ID, put, type RecordsWorld, type RecordStoreTest } from "./record-store-test";

/** Between a write and the look at it. */
const A_WHILE_MS = 60;
const TIMER_MAY_BE_EARLY_MS = 10;

function claim(
  { store }: RecordsWorld,
  record: LeaseRecord,
  ifVersion: RecordVersion | "absent" = "absent",
): Promise<ClaimedLease> {
  if (store.claim === undefined) throw new Error("a store that has a clock must have claim");
  return expected(store.claim(ID, record, ifVersion));
}

/** A fence that any clock is beyond, and text that looks like the field, where it is none. */
const low = held({
  fence: 7,
  holder: { host: "web-2", pid: 1, operation: 'of "fence":7, "fence":8', since: 1_893_455_985.5 },
});

/** Ages, the store's wall clock, and the fences of stores that have a clock. */
export const tellsTime: readonly RecordStoreTest[] = [
  {
    name: "the age of a version grows with time and begins anew with the next version",
    run: async (world) => {
      const { store, pass, ageLagMs } = world;
      const first = await put(world);
      await pass(ageLagMs + A_WHILE_MS);
      const age = await store.ageMs(ID, first);
      assert.ok(age !== null && age >= A_WHILE_MS - TIMER_MAY_BE_EARLY_MS, `it is ${age}`);
      const beforeMs = performance.now();
      const second = await put(world, held({ renewSeq: 1 }), first);
      const next = await store.ageMs(ID, second);
      const passedMs = Math.ceil(performance.now() - beforeMs);
      assert.ok(
        next !== null && next <= passedMs,
        `it is ${next}, and not more than ${passedMs} ms have passed`,
      );
    },
  },
  {
    name: "there is no age of a version that was replaced, removed, or never was",
    run: async (world) => {
      const { store } = world;
      const first = await put(world);
      const second = await put(world, held({ renewSeq: 1 }), first);
      assert.equal(await store.ageMs(ID, first), null);
      await store.remove(ID, second);
      assert.equal(await store.ageMs(ID, second), null);
      assert.equal(await store.ageMs("never", second), null);
    },
  },
  {
    name: "the store tells its wall clock with each record",
    run: async (world) => {
      await put(world);
      const seen = await world.store.read(ID);
      assert.ok(seen !== null && seen.storeNowMs > Date.UTC(2020, 0, 1), `it is ${seen?.storeNowMs}`);
    },
  },
  {
    name: "the fence of a claim is raised to the store's own time, and nothing else is changed",
    needsClock: true,
    run: async (world) => {
      const first = await claim(world, low);
      const found = await world.another.read(ID);
      assert.deepEqual(found?.record, { ...low, fence: first.fence });
      assert.equal(found.version, first.version);
      assert.ok(Math.abs(found.storeNowMs - first.fence) < 2_000, `${found.storeNowMs}, ${first.fence}`);
      await world.pass(5);
      const second = await claim(world, low, first.version);
      assert.ok(second.fence > first.fence, `${second.fence} after ${first.fence}`);
    },
  },
  {
    name: "a claim keeps a fence that is later than the store's own time",
    needsClock: true,
    run: async (world) => {
      const far = held({ fence: 4_000_000_000_000 });
      assert.equal((await claim(world, far)).fence, far.fence);
      assert.deepEqual((await world.another.read(ID))?.record, far);
    },
  },
  {
    name: "a claim is refused as a write is, and nothing but a claim raises a fence",
    needsClock: true,
    run: async (world) => {
      const version = await put(world, low);
      await assert.rejects(claim(world, held()), /met a conflict/);
      const seen = await world.store.read(ID);
      assert.deepEqual(seen?.record, low);
      assert.equal(seen.version, version);
    },
  },
];
