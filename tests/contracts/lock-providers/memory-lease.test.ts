import { LeaseLockProvider } from "../../../src/infrastructure/locking/lease/lease-lock-provider";
import { TransientLeaseStoreError } from "../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { MemoryLeaseRecordStore } from "../../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import { describeLockProvider } from "../../../src/lock-contract";

/** Short, so that a holder notices within a third of it that its record is gone. */
const lease = { ttlMs: 1_500 };

describeLockProvider(
  { describe, it },
  {
    name: `${LeaseLockProvider.name} on records in memory`,
    layers: [
      "lends",
      "hands out",
      "keeps callers apart",
      "can be tried",
      "keeps for a while",
      "elects",
      "lends slots",
      "honours its lease",
      "honours the lease of a slot",
      "serves in turn",
    ],
    open: () => {
      const records = new MemoryLeaseRecordStore();
      const providers = [new LeaseLockProvider(records, { lease, adapter: "memory" })];
      const [locks] = providers as [LeaseLockProvider];
      return {
        locks,
        leftovers: () => locks.size,
        close: async () => {
          await Promise.all(providers.map((provider) => provider.close()));
        },
        lease: {
          another: () => {
            const other = new LeaseLockProvider(records, { lease, adapter: "memory" });
            providers.push(other);
            return other;
          },
          // As after a stall in which somebody else came and went: the record is free, and remembers its fence.
          lose: async (id) => {
            const seen = await records.read(id);
            if (seen !== null) await records.write(id, { ...seen.record, ownerId: null }, seen.version);
          },
          failReleases: () => {
            const write = records.write.bind(records);
            records.write = (id, record, ifVersion) =>
              record.ownerId === null
                ? Promise.reject(new TransientLeaseStoreError("refused"))
                : write(id, record, ifVersion);
          },
        },
      };
    },
  },
);
