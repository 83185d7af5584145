import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteDatabase } from "../../../src/infrastructure/persistence/sqlite/sqlite-database";
import { SqliteMigration } from "../../../src/infrastructure/persistence/sqlite/sqlite-migration";
import { SystemClock } from "../../../src/infrastructure/time/system-clock";

export interface TemporarySqlite {
  readonly folder: string;
  readonly path: string;
  readonly sqlite: SqliteDatabase;
  /** Closes it and removes the folder. */
  close(): Promise<void>;
}

/** A migrated database in a folder of its own. */
export async function temporarySqlite(): Promise<TemporarySqlite> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-sqlite-"));
  const path = join(folder, "holdfast.db");
  await writeFile(path, await (migratedFile ??= makeMigratedFile()));
  const sqlite = await SqliteDatabase.open(path);
  return {
    folder,
    path,
    sqlite,
    close: async () => {
      sqlite.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Made once for all tests of a file: to migrate takes longer than most of them. */
let migratedFile: Promise<Buffer> | undefined;

async function makeMigratedFile(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-sqlite-"));
  const path = join(folder, "holdfast.db");
  (await openMigrated(path)).close();
  const file = readFileSync(path);
  rmSync(folder, { recursive: true });
  return file;
}

export async function openMigrated(path: string): Promise<SqliteDatabase> {
  const sqlite = await SqliteDatabase.open(path);
  await new SqliteMigration(sqlite, new SystemClock()).migrate();
  return sqlite;
}
