import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { describeSharedSandboxes } from "./describe-shared-sandboxes";

let standIn: GcsStandIn;

describeSharedSandboxes("locks and snapshots in a bucket", async () => {
  standIn = await GcsStandIn.start({ buckets: ["holdfast"] });
  return {
    flags: { locks: "gs://holdfast/locks", snapshots: "gs://holdfast/snapshots" },
    env: { STORAGE_EMULATOR_HOST: standIn.url },
  };
});

afterEach(() => standIn.close());
