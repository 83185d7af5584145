import {
  describeLeaseRecordStore,
  type LeaseRecordStoreUnderTest,
  type OpenedLeaseRecords,
} from "../../../src/lock-testing";
import { leaseVectors, storedText } from "../../support/lease-vectors";

interface OpenedHere extends OpenedLeaseRecords {
  /** Where the record of an id is kept, as people are told. */
  place(id: string): string;
}

export interface LeaseRecordStoreHarness extends LeaseRecordStoreUnderTest {
  open(): OpenedHere | Promise<OpenedHere>;
}

const A = "payment:a";

/** The published contract, and what our own stores do with records that are not quite theirs. */
export function describeLeaseRecordStoreContract(harness: LeaseRecordStoreHarness): void {
  describeLeaseRecordStore({ describe, it }, harness);

  describe(`records of others, read by ${harness.name}`, () => {
    let world: OpenedHere;
    beforeEach(async () => {
      world = await harness.open();
    });
    afterEach(async () => {
      await world.close?.();
    });

    test("a record of which only the optional is missing or inexact is understood", async () => {
      for (const vector of leaseVectors.records.tolerated) {
        await world.putText(A, storedText(vector));
        expect([vector.what, (await world.store.read(A))?.record]).toEqual([vector.what, vector.readAs]);
      }
    });

    test("one that cannot be understood is told with its place, what is wrong, and what to do", async () => {
      for (const { flaw, ...vector } of leaseVectors.records.refused.filter((each) => "record" in each)) {
        await world.putText(A, storedText(vector));
        const told = await world.store.read(A).then(String, (error: Error) => error.message);
        expect(told).toBe(
          `${world.place(A)} is not a lease record (${flaw}), and counts as held: look at it, and remove it when this lock has no holder`,
        );
      }
    });
  });
}
