import {
  serializeLeaseRecord,
  UnreadableLeaseRecordError,
} from "../../src/infrastructure/locking/lease/protocol/lease-record";
import {
  recordVersion,
  type LeaseRecordStore,
} from "../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { describeLeaseRecordStore, MemoryLeaseRecordStore, VirtualLockClock } from "../../src/lock-testing";

type Defect = (store: MemoryLeaseRecordStore) => Partial<LeaseRecordStore>;

/** A defect that a store of one's own could have, and the promise that has to be seen broken. */
const CAUGHT: readonly [string, Defect, RegExp][] = [
  [
    "asks for the version and writes later",
    (store) => ({
      write: async (id, record, ifVersion) => {
        const seen = await store.read(id);
        return (seen?.version ?? "absent") === ifVersion
          ? store.putText(id, serializeLeaseRecord(record))
          : "conflict";
      },
    }),
    /of many that create at once, exactly one does/,
  ],
  [
    "overwrites what it cannot read",
    (store) => ({
      write: async (id, record, ifVersion) => {
        const isUnreadable = await store.read(id).then(
          () => false,
          () => true,
        );
        return isUnreadable
          ? store.putText(id, serializeLeaseRecord(record))
          : store.write(id, record, ifVersion);
      },
    }),
    /never absent, and never overwritten/,
  ],
  [
    "takes what it cannot read for nothing",
    (store) => ({
      read: (id) =>
        store.read(id).catch((error: unknown) => {
          if (error instanceof UnreadableLeaseRecordError) return null;
          throw error;
        }),
    }),
    /said to be unreadable, never absent/,
  ],
  ["removes whatever is there", removesAnything, /removing needs the version/],
  [
    "names a version after its content",
    (store) => ({
      read: async (id) => {
        const seen = await store.read(id);
        return seen && { ...seen, version: recordVersion(JSON.stringify(seen.record)) };
      },
      write: async (id, record, ifVersion) => {
        const seen = await store.read(id);
        const current = seen === null ? "absent" : JSON.stringify(seen.record);
        if (current !== ifVersion) return "conflict";
        await store.write(id, record, seen?.version ?? "absent");
        return recordVersion(JSON.stringify(record));
      },
    }),
    /even if the bytes are the same again/,
  ],
  [
    "cuts ids at their edges",
    (store) => ({
      read: (id) => store.read(id.trim()),
      write: (id, record, ifVersion) => store.write(id.trim(), record, ifVersion),
    }),
    /ids are taken literally/,
  ],
  [
    "counts the age from the first write",
    (store) => {
      const ages = new Map<string, number>();
      return {
        ageMs: async (id, version) => {
          const age = await store.ageMs(id, version);
          if (age !== null) ages.set(id, Math.max(age, ages.get(id) ?? 0));
          return age === null ? null : (ages.get(id) ?? null);
        },
      };
    },
    /begins anew with the next version/,
  ],
  ["tells an age of what is gone", () => ({ ageMs: async () => 0 }), /there is no age of a version/],
];

function removesAnything(store: MemoryLeaseRecordStore): Partial<LeaseRecordStore> {
  return {
    remove: async (id) => {
      const seen = await store.read(id);
      if (seen !== null) await store.remove(id, seen.version);
    },
  };
}

/** The names of the tests that a store does not pass. */
async function failedTests(defect: Defect): Promise<string[]> {
  const tests: { readonly name: string; readonly body: () => Promise<void> }[] = [];
  let clock = new VirtualLockClock();
  describeLeaseRecordStore(
    {
      describe: (_name, body) => body(),
      it: (name, body) => tests.push({ name, body }),
    },
    {
      name: "a store",
      open: () => {
        clock = new VirtualLockClock();
        const memory = new MemoryLeaseRecordStore(clock);
        const sound: LeaseRecordStore = {
          read: (id) => memory.read(id),
          ageMs: (id, version) => memory.ageMs(id, version),
          write: (id, record, ifVersion) => memory.write(id, record, ifVersion),
          remove: (id, ifVersion) => memory.remove(id, ifVersion),
        };
        const store = { ...sound, ...defect(memory) };
        return { store, another: store, putText: (id, text) => void memory.putText(id, text) };
      },
      pass: (ms) => clock.advance(ms),
    },
  );
  const failed: string[] = [];
  for (const { name, body } of tests)
    await body().catch(() => {
      failed.push(name);
    });
  return failed;
}

test("a sound store passes all of it", async () => {
  expect(await failedTests(() => ({}))).toEqual([]);
});

test.each(CAUGHT)("a store that %s does not", async (_what, defect, promise) => {
  expect(await failedTests(defect)).toContainEqual(expect.stringMatching(promise));
});
