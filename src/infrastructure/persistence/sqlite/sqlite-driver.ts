import { createRequire } from "node:module";
import type * as Sqlite from "@photostructure/sqlite";

export type DatabaseSync = InstanceType<typeof Sqlite.DatabaseSync>;
export type StatementSync = InstanceType<typeof Sqlite.StatementSync>;

/** From here on Node's own SQLite is stable; the package has the same interface. */
const NODE_WITH_STABLE_SQLITE = 24;

/** Loaded on first use: importing this module opens and loads nothing. */
export function loadSqlite(): Pick<typeof Sqlite, "DatabaseSync"> {
  const load = createRequire(__filename);
  const major = Number(process.versions.node.split(".")[0]);
  const name = major >= NODE_WITH_STABLE_SQLITE ? "node:sqlite" : "@photostructure/sqlite";
  return load(name) as Pick<typeof Sqlite, "DatabaseSync">;
}
