import { describeWithOnePostgres } from "../support/servers/servers";
import { describeCrashMatrix } from "./describe-crash-matrix";

describeWithOnePostgres("servers on PostgreSQL", (postgres) => {
  describeCrashMatrix("PostgreSQL", () => postgres.url);
});
