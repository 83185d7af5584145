import { SchemaTooNewError } from "../../../application/ports/store-migration";
import type { Migration, SqlEngine } from "./migration";
import { migrations } from "./migrations";

/** Run first, inside the transaction that migrates. */
export const createMigrationTable = (engine: SqlEngine) =>
  engine === "sqlite"
    ? "CREATE TABLE IF NOT EXISTS schema_migrations (version integer NOT NULL PRIMARY KEY, applied_at integer NOT NULL) STRICT"
    : "CREATE TABLE IF NOT EXISTS schema_migrations (version bigint NOT NULL PRIMARY KEY, applied_at bigint NOT NULL)";

/** What is still to be done to a store at this version; 0 is an empty one. */
export function missingMigrations(
  version: number,
  known: readonly Migration[] = migrations,
): readonly Migration[] {
  const newest = known.at(-1)?.version ?? 0;
  if (version > newest) throw new SchemaTooNewError(version, newest);
  return known.filter((migration) => migration.version > version);
}
