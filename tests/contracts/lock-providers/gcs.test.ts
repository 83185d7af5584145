import { GcsLockProvider } from "../../../src/infrastructure/locking/lease/gcs/gcs-lock-provider";
import type { GcsLeaseRecordStore } from "../../../src/infrastructure/locking/lease/gcs/gcs-lease-record-store";
import { TransientLeaseStoreError } from "../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { describeLockProvider, type LockProviderUnderTest } from "../../../src/lock-contract";
import { nextMillisecond } from "../../support/next-millisecond";
import { openGcsWorld } from "../../support/servers/gcs-locks";
import { size } from "../../support/test-size";

/** What a lease promises it promises on whichever records: in brief, memory-lease.test.ts has most of it alone. */
const layers = size<LockProviderUnderTest["layers"]>(
  [
    "lends",
    "hands out",
    "keeps callers apart",
    "can be tried",
    "keeps for a while",
    "elects",
    "lends slots",
    "keeps processes apart",
    "keeps slots apart",
    "outlasts its process",
    "honours its lease",
    "honours the lease of a slot",
    "serves in turn",
  ],
  ["lends", "keeps processes apart", "outlasts its process"],
);

describeLockProvider(
  { describe, it },
  {
    name: GcsLockProvider.name,
    layers: [...layers, ...(process.env["HOLDFAST_TEST_GCS"] === "1" ? [] : (["answers in time"] as const))],
    // The service itself takes one change per second and object, and some tests make a hundred.
    patienceMs: process.env["HOLDFAST_TEST_GCS"] === "1" ? 300_000 : 30_000,
    open: async () => {
      const world = await openGcsWorld();
      const locks = world.provider();
      return {
        locks,
        silence: () => world.relay?.silence(),
        leftovers: () => locks.size,
        close: () => world.close(),
        child: world.child(),
        // The lease and its margin, and the last look of the one who waits.
        recoveryMs: 15_000,
        lease: {
          another: () => world.provider(),
          // As after a stall in which the store was cleaned up: what the holder had is gone.
          lose: async (id) => {
            await world.put(id, null);
            await nextMillisecond();
          },
          failReleases: () => {
            const release = /"ownerId":null/;
            if (world.standIn !== undefined)
              world.standIn.faults.next(
                "object.insert",
                { kind: "answer", status: 503 },
                { body: release, times: Infinity },
              );
            else refuseReleases(locks.records);
          },
        },
      };
    },
  },
);

/** Where the other end cannot be told to fail. */
function refuseReleases(records: GcsLeaseRecordStore): void {
  const write = records.write.bind(records);
  records.write = (id, record, ifVersion) =>
    record.ownerId === null
      ? Promise.reject(new TransientLeaseStoreError("refused"))
      : write(id, record, ifVersion);
}
