import { closeSync, openSync, writeSync } from "node:fs";
import { loadSqlite } from "../../../src/infrastructure/persistence/sqlite/sqlite-driver";

/** Takes a CHECK out of a table that others may have open: SQLite itself has no statement for it. */
export function withoutCheck(path: string, table: string, condition: string): void {
  const { DatabaseSync } = loadSqlite();
  const connection = new DatabaseSync(path);
  try {
    connection.enableDefensive(false);
    const row = connection.prepare("PRAGMA schema_version").get() as { schema_version: number };
    connection.exec(`
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (${condition})', 'CHECK (true)') WHERE name = '${table}';
      PRAGMA schema_version = ${row.schema_version + 1};
      PRAGMA writable_schema = OFF;
    `);
  } finally {
    connection.close();
  }
}

/** Overwrites where the rows of a table begin, in a file that nobody has open; the schema stays readable. */
export function damageTable(path: string, table: string): void {
  const { DatabaseSync } = loadSqlite();
  const connection = new DatabaseSync(path);
  connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const { page_size } = connection.prepare("PRAGMA page_size").get() as { page_size: number };
  const { rootpage } = connection.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table) as {
    rootpage: number;
  };
  connection.close();
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(page_size, 0xab), 0, page_size, (rootpage - 1) * page_size);
  closeSync(file);
}
