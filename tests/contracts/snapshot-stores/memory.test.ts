import { MemorySnapshotStore } from "../../../src/infrastructure/snapshots/memory-snapshot-store";
import { describeSnapshotStoreContract } from "./snapshot-store-contract";

describeSnapshotStoreContract({
  name: MemorySnapshotStore.name,
  open: async () => {
    const store = new MemorySnapshotStore();
    return { store, another: store };
  },
});
