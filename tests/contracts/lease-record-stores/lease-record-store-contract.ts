import {
  UnreadableLeaseRecordError,
  type LeaseRecord,
  type ForeignLeaseRecord,
} from "../../../src/infrastructure/locking/lease/lease-record";
import {
  recordVersion,
  type ClaimedLease,
  type LeaseRecordStore,
  type RecordVersion,
} from "../../../src/infrastructure/locking/lease/lease-record-store";
import { leaseVectors, storedText } from "../../support/lease-vectors";

/** A record store in a world of its own, without any record. */
export interface LeaseRecordStoreUnderTest {
  readonly store: LeaseRecordStore;
  /** The same records, reached as another process would reach them. */
  readonly another: LeaseRecordStore;
  /** Where the record of an id is kept, as people are told. */
  place(id: string): string;
  /** Puts any bytes there behind the store's back. */
  putText(id: string, text: string): Promise<void> | void;
  close?(): Promise<void> | void;
}

export interface LeaseRecordStoreHarness {
  readonly name: string;
  open(): LeaseRecordStoreUnderTest | Promise<LeaseRecordStoreUnderTest>;
  /** How far `ageMs` may lag behind the truth, for stores that tell time coarsely. Default 0. */
  readonly ageLagMs?: number;
  /** It has a clock of its own, and says what a claim's fence is. */
  readonly hasClock?: boolean;
  /** Lets time pass for the store. Default: really. */
  readonly pass?: (ms: number) => Promise<void>;
}

const A = "payment:a";

const held = (change: Partial<LeaseRecord> = {}): LeaseRecord => ({
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

const FOREIGN: ForeignLeaseRecord = {
  ownerId: "pod-1",
  expiresAt: 12.5,
  waitingOwnerId: null,
  waiterExpiresAt: null,
};

/** Each MUST of the port, as a test. */
export function describeLeaseRecordStoreContract(harness: LeaseRecordStoreHarness): void {
  const pass = harness.pass ?? ((ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms)));

  describe(`the contract of lease record stores, kept by ${harness.name}`, () => {
    let world: LeaseRecordStoreUnderTest;
    let store: LeaseRecordStore;

    beforeEach(async () => {
      world = await harness.open();
      store = world.store;
    });

    afterEach(async () => {
      await world.close?.();
    });

    const written = async (answer: Promise<RecordVersion | "conflict">): Promise<RecordVersion> => {
      const version = await answer;
      if (version === "conflict") throw new Error("an expected write met a conflict");
      return version;
    };

    test("there is certainly no record before one was written", async () => {
      expect(await store.read(A)).toBeNull();
    });

    test("a record is read back exactly, with its version, by everybody", async () => {
      const version = await written(store.write(A, held(), "absent"));
      for (const reader of [store, world.another])
        expect(await reader.read(A)).toMatchObject({ record: held(), version });
    });

    test("a foreign record stays foreign", async () => {
      await written(store.write(A, FOREIGN, "absent"));
      expect((await store.read(A))?.record).toEqual(FOREIGN);
    });

    test("creating finds a conflict where there is a record, and changes nothing", async () => {
      const version = await written(store.write(A, held(), "absent"));
      expect(await world.another.write(A, held({ fence: 2 }), "absent")).toBe("conflict");
      expect(await store.read(A)).toMatchObject({ record: held(), version });
    });

    test("of many that create at once, exactly one does", async () => {
      const racers = Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? store : world.another).write(A, held({ fence: index + 1 }), "absent"),
      );
      const answers = await Promise.all(racers);
      expect(answers.filter((answer) => answer !== "conflict")).toHaveLength(1);
    });

    test("of many that replace one version at once, exactly one does, and its record stays", async () => {
      const version = await written(store.write(A, held(), "absent"));
      const racers = Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? store : world.another).write(A, held({ renewSeq: index + 1 }), version),
      );
      const answers = await Promise.all(racers);
      const winner = answers.findIndex((answer) => answer !== "conflict");
      expect(answers.filter((answer) => answer !== "conflict")).toHaveLength(1);
      const seen = await store.read(A);
      expect(seen).toMatchObject({ version: answers[winner], record: { renewSeq: winner + 1 } });
    });

    test("a version that was replaced is a conflict, even if the bytes are the same again", async () => {
      const first = await written(store.write(A, held(), "absent"));
      const second = await written(store.write(A, held({ renewSeq: 1 }), first));
      await written(store.write(A, held(), second));
      expect(await store.write(A, held({ renewSeq: 2 }), first)).toBe("conflict");
    });

    test("writing the same record again makes a new version", async () => {
      const first = await written(store.write(A, held(), "absent"));
      expect(await written(store.write(A, held(), first))).not.toBe(first);
    });

    test("a version that never was is a conflict, with and without a record", async () => {
      const never = recordVersion("4711471147114711");
      expect(await store.write(A, held(), never)).toBe("conflict");
      expect(await store.read(A)).toBeNull();
      await written(store.write(A, held(), "absent"));
      expect(await store.write(A, held(), never)).toBe("conflict");
    });

    test("removing needs the version, and does nothing otherwise", async () => {
      const first = await written(store.write(A, held(), "absent"));
      const second = await written(store.write(A, held({ renewSeq: 1 }), first));
      await store.remove(A, first);
      expect((await store.read(A))?.version).toBe(second);
      await store.remove(A, second);
      expect(await store.read(A)).toBeNull();
      await store.remove(A, second);
    });

    test("no version comes back after a removal", async () => {
      const first = await written(store.write(A, held(), "absent"));
      await store.remove(A, first);
      const second = await written(store.write(A, held(), "absent"));
      expect(second).not.toBe(first);
      expect(await store.write(A, held({ renewSeq: 1 }), first)).toBe("conflict");
    });

    test("ids are taken literally", async () => {
      const ids = ["a", "A", "a ", "../a", "a/../a", "a%2Fa", "ä", "a\u0308", "x".repeat(200), "{a}", "a*"];
      for (const [index, id] of ids.entries())
        await written(store.write(id, held({ renewSeq: index }), "absent"));
      for (const [index, id] of ids.entries())
        expect((await world.another.read(id))?.record).toMatchObject({ renewSeq: index });
    });

    test("bytes that are no lease record are said to be unreadable, never absent, and never overwritten", async () => {
      for (const text of ["somebody's notes", "", '{"ownerId":7}']) {
        await world.putText(A, text);
        await expect(store.read(A)).rejects.toBeInstanceOf(UnreadableLeaseRecordError);
        expect(await store.write(A, held(), "absent")).toBe("conflict");
      }
    });

    test("a record of which only the optional is missing or inexact is understood", async () => {
      for (const vector of leaseVectors.records.tolerated) {
        await world.putText(A, storedText(vector));
        expect([vector.what, (await store.read(A))?.record]).toEqual([vector.what, vector.readAs]);
      }
    });

    test("one that cannot be understood is told with its place, what is wrong, and what to do", async () => {
      for (const { flaw, ...vector } of leaseVectors.records.refused.filter((each) => "record" in each)) {
        await world.putText(A, storedText(vector));
        const told = await store.read(A).then(String, (error: Error) => error.message);
        expect(told).toBe(
          `${world.place(A)} is not a lease record (${flaw}), and counts as held: look at it, and remove it when nobody holds this lock`,
        );
      }
    });

    test("the age of a version grows with time and begins anew with the next version", async () => {
      const lagMs = harness.ageLagMs ?? 0;
      const first = await written(store.write(A, held(), "absent"));
      await pass(lagMs + 60);
      const age = await store.ageMs(A, first);
      expect(age).toBeGreaterThanOrEqual(50);
      const second = await written(store.write(A, held({ renewSeq: 1 }), first));
      expect(await store.ageMs(A, second)).toBeLessThan(lagMs + 60);
    });

    test("there is no age of a version that was replaced, removed, or never was", async () => {
      const first = await written(store.write(A, held(), "absent"));
      const second = await written(store.write(A, held({ renewSeq: 1 }), first));
      expect(await store.ageMs(A, first)).toBeNull();
      await store.remove(A, second);
      expect(await store.ageMs(A, second)).toBeNull();
      expect(await store.ageMs("never", second)).toBeNull();
    });

    test("the store tells its wall clock with each record", async () => {
      await written(store.write(A, held(), "absent"));
      const seen = await store.read(A);
      expect(seen?.storeNowMs).toBeGreaterThan(Date.UTC(2020, 0, 1));
    });

    if (harness.hasClock === true) {
      const claim = (
        record: LeaseRecord,
        ifVersion: RecordVersion | "absent" = "absent",
      ): Promise<ClaimedLease> =>
        store.claim!(A, record, ifVersion).then((answer) => {
          if (answer === "conflict") throw new Error("conflict");
          return answer;
        });
      // Text that looks like the field, where it is none.
      const purpose = 'of "fence":7, "fence":8';
      const low = held({
        fence: 7,
        holder: { host: "web-2", pid: 1, operation: purpose, since: 1_893_455_985.5 },
      });

      it("raises the fence of a claim to its own time, and says so, and changes nothing else", async () => {
        const first = await claim(low);
        const found = await world.another.read(A);
        expect(found).toMatchObject({ version: first.version, record: { ...low, fence: first.fence } });
        expect(Math.abs(found!.storeNowMs - first.fence)).toBeLessThan(2_000);
        await pass(5);
        const second = await claim(low, first.version);
        expect(second.fence).toBeGreaterThan(first.fence);
      });

      it("leaves a claim the fence that is later than its own time", async () => {
        const far = held({ fence: 4_000_000_000_000 });
        expect(await claim(far)).toMatchObject({ fence: far.fence });
        expect((await world.another.read(A))?.record).toEqual(far);
      });

      it("refuses a claim as it refuses a write, and raises the fence of nothing but a claim", async () => {
        const written = await store.write(A, low, "absent");
        expect(await store.claim!(A, held(), "absent")).toBe("conflict");
        const found = await store.read(A);
        expect(found).toMatchObject({ version: written, record: low });
      });
    }
  });
}
