import { join } from "node:path";
import { describeWithPostgres } from "../../support/servers/servers";
import { describeSharedSandboxes } from "./describe-shared-sandboxes";

describeWithPostgres("leases in rows of PostgreSQL, snapshots in a shared directory", (postgres) => {
  describeSharedSandboxes("PostgreSQL", async (folder) => ({
    flags: { locks: postgres.url, snapshots: `file:${join(folder, "snapshots")}` },
  }));
});
