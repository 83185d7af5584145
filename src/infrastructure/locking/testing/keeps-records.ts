import { strict as assert } from "node:assert";
import { UnreadableLeaseRecordError, type ForeignLeaseRecord } from "../lease/protocol/lease-record";
import { recordVersion, type RecordVersion } from "../lease/protocol/lease-record-store";
import { expected, held, ID, put, type RecordsWorld, type RecordStoreTest } from "./record-store-test";

const RACERS = 8;

/** As many at once, by either way to the records. */
function race(
  { store, another }: RecordsWorld,
  ifVersion: RecordVersion | "absent",
): Promise<(RecordVersion | "conflict")[]> {
  return Promise.all(
    Array.from({ length: RACERS }, (_, index) =>
      (index % 2 === 0 ? store : another).write(ID, held({ renewSeq: index + 1 }), ifVersion),
    ),
  );
}

async function assertOneWon(world: RecordsWorld, answers: (RecordVersion | "conflict")[]): Promise<void> {
  const winner = answers.findIndex((answer) => answer !== "conflict");
  assert.equal(answers.filter((answer) => answer !== "conflict").length, 1, "exactly one write is applied");
  const seen = await world.store.read(ID);
  assert.deepEqual(seen?.record, held({ renewSeq: winner + 1 }));
  assert.equal(seen.version, answers[winner]);
}

/** Nobody's version, of a form that any store may have. */
const NEVER = recordVersion("4711471147114711");

const FOREIGN: ForeignLeaseRecord = {
  ownerId: "pod-1",
  expiresAt: 12.5,
  waitingOwnerId: null,
  waiterExpiresAt: null,
};

/** Records that are compared and swapped. */
export const keepsRecords: readonly RecordStoreTest[] = [
  {
    name: "there is certainly no record before one was written",
    run: async ({ store }) => assert.equal(await store.read(ID), null),
  },
  {
    name: "a record is read back exactly, with its version, by everybody",
    run: async (world) => {
      const version = await put(world);
      for (const reader of [world.store, world.another]) {
        const seen = await reader.read(ID);
        assert.deepEqual(seen?.record, held());
        assert.equal(seen.version, version);
      }
    },
  },
  {
    name: "a foreign record stays foreign",
    run: async ({ store }) => {
      await expected(store.write(ID, FOREIGN, "absent"));
      assert.deepEqual((await store.read(ID))?.record, FOREIGN);
    },
  },
  {
    name: "creating finds a conflict where there is a record, and changes nothing",
    run: async (world) => {
      const version = await put(world);
      assert.equal(await world.another.write(ID, held({ fence: 2 }), "absent"), "conflict");
      const seen = await world.store.read(ID);
      assert.deepEqual(seen?.record, held());
      assert.equal(seen.version, version);
    },
  },
  {
    name: "of many that create at once, exactly one does, and its record stays",
    run: async (world) => assertOneWon(world, await race(world, "absent")),
  },
  {
    name: "of many that replace one version at once, exactly one does, and its record stays",
    run: async (world) => assertOneWon(world, await race(world, await put(world))),
  },
  {
    name: "a version that was replaced is a conflict, even if the bytes are the same again",
    run: async (world) => {
      const first = await put(world);
      const second = await put(world, held({ renewSeq: 1 }), first);
      await put(world, held(), second);
      assert.equal(await world.store.write(ID, held({ renewSeq: 2 }), first), "conflict");
    },
  },
  {
    name: "writing the same record again makes a new version",
    run: async (world) => {
      const first = await put(world);
      assert.notEqual(await put(world, held(), first), first);
    },
  },
  {
    name: "a version that never was is a conflict, with and without a record",
    run: async (world) => {
      assert.equal(await world.store.write(ID, held(), NEVER), "conflict");
      assert.equal(await world.store.read(ID), null);
      await put(world);
      assert.equal(await world.store.write(ID, held(), NEVER), "conflict");
    },
  },
  {
    name: "removing needs the version, and does nothing otherwise",
    run: async (world) => {
      const { store } = world;
      const first = await put(world);
      const second = await put(world, held({ renewSeq: 1 }), first);
      await store.remove(ID, first);
      assert.equal((await store.read(ID))?.version, second);
      await store.remove(ID, second);
      assert.equal(await store.read(ID), null);
      await store.remove(ID, second);
    },
  },
  {
    name: "no version comes back after a removal",
    run: async (world) => {
      const first = await put(world);
      await world.store.remove(ID, first);
      assert.notEqual(await put(world), first);
      assert.equal(await world.store.write(ID, held({ renewSeq: 1 }), first), "conflict");
    },
  },
  {
    name: "ids are taken literally",
    run: async ({ store, another }) => {
      const ids = ["a", "A", "a ", "../a", "a/../a", "a%2Fa", "ä", "a\u0308", "x".repeat(200), "{a}", "a*"];
      for (const [index, id] of ids.entries())
        await expected(store.write(id, held({ renewSeq: index }), "absent"));
      for (const [index, id] of ids.entries())
        assert.deepEqual((await another.read(id))?.record, held({ renewSeq: index }), JSON.stringify(id));
    },
  },
  {
    name: "bytes that are no lease record are said to be unreadable, never absent, and never overwritten",
    run: async (world) => {
      const { store } = world;
      for (const text of ["somebody's notes", "", '{"ownerId":7}']) {
        await world.putText(ID, text);
        await assert.rejects(store.read(ID), (error) => error instanceof UnreadableLeaseRecordError);
        assert.equal(await store.write(ID, held(), "absent"), "conflict");
      }
    },
  },
];
