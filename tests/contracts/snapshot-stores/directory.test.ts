import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DirectorySnapshotStore } from "../../../src/infrastructure/snapshots/directory-snapshot-store";
import { describeSnapshotStoreContract } from "./snapshot-store-contract";

describeSnapshotStoreContract({
  name: DirectorySnapshotStore.name,
  open: async () => {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-snapshots-"));
    const directory = join(folder, "not", "there", "yet");
    return {
      store: new DirectorySnapshotStore(directory),
      another: new DirectorySnapshotStore(directory),
      close: () => rm(folder, { recursive: true }),
    };
  },
});
