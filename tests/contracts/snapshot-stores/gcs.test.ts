import { GcsSnapshotStore } from "../../../src/infrastructure/snapshots/gcs-snapshot-store";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { describeSnapshotStoreContract } from "./snapshot-store-contract";

describeSnapshotStoreContract({
  name: GcsSnapshotStore.name,
  open: async () => {
    const standIn = await GcsStandIn.start({ buckets: ["snapshots"], generations: "shuffled" });
    const store = () =>
      new GcsSnapshotStore({ bucket: "snapshots", prefix: "sandboxes/", emulatorHost: standIn.url });
    return { store: store(), another: store(), close: () => standIn.close() };
  },
});
