import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  openApplication,
  type Application,
} from "../../src/infrastructure/composition/opening/open-application";
import { readConfiguration } from "../../src/infrastructure/configuration/configuration";
import { loadSqlite, type DatabaseSync } from "../../src/infrastructure/persistence/sqlite/sqlite-driver";
import { authorizeOne } from "./authorized";
import {
  assertHeadsDiffer,
  copies,
  GATEWAY_TABLES,
  PAYMENT_TABLES,
  type Row,
  type Table,
} from "./numbered-payments";

/** A store with many authorized payments, in a folder of its own. */
export interface SqlitePayments {
  readonly file: string;
  /** The payment of which the others are copies: `numbered` makes their ids of it. */
  readonly original: string;
  remove(): void;
}

/** Payments 1 to `count` in a new file, all authorized; for what asks the store alone, without the gateway's side. */
export async function sqlitePayments(
  count: number,
  gatewayTables: readonly string[] = GATEWAY_TABLES,
): Promise<SqlitePayments> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-store-"));
  const file = join(folder, "bench.db");
  const application = await openSqliteApplication(file);
  let original: string;
  try {
    original = await authorizeOne(application);
  } finally {
    await application.close();
  }
  copyRows(file, PAYMENT_TABLES, count);
  if (gatewayTables.length > 0) copyRows(gatewayFile(file), gatewayTables, count);
  return { file, original, remove: () => rmSync(folder, { recursive: true }) };
}

export function gatewayFile(file: string): string {
  return file.replace(/\.db$/, ".gateway.db");
}

export function openSqliteApplication(
  file: string,
  flags: Readonly<Record<string, string>> = {},
): Promise<Application> {
  const configuration = readConfiguration({
    flags: { ...flags, store: `sqlite:${file}`, "log-level": "silent" },
    environment: {},
  });
  return openApplication(configuration, { purpose: "bench" });
}

/** Throws unless the gateway moved money for so many payments, once for each. For a file that no server has. */
export function assertSqliteCapturedOnce(file: string, expected: number): void {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(gatewayFile(file));
  try {
    const counted = database
      .prepare(
        "SELECT count(*) AS moves, count(DISTINCT payment_id) AS moved FROM gateway_moves WHERE kind = 'capture'",
      )
      .get() as { moves: number; moved: number };
    if (counted.moves !== expected || counted.moved !== expected)
      throw new Error(`${expected} captures were sent: ${JSON.stringify(counted)}`);
  } finally {
    database.close();
  }
}

function copyRows(file: string, names: readonly string[], count: number): void {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000");
    const tables = names.map((name) => tableOf(database, name));
    assertHeadsDiffer(tables);
    database.exec("BEGIN");
    for (const statement of copies(tables, 1, count, "sqlite")) database.exec(statement);
    database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
    // Only of what was copied: of a table that is still empty it would say that looking through all of it is cheap.
    for (const name of names) database.exec(`ANALYZE ${name}`);
  } finally {
    database.close();
  }
}

function tableOf(database: DatabaseSync, name: string): Table {
  const statement = database.prepare(`SELECT * FROM ${name}`);
  statement.setReadBigInts(true);
  const rows = statement.all() as Row[];
  return name === "gateway_moves" ? { name, rows, generated: "sequence" } : { name, rows };
}
