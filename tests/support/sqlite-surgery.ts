import { loadSqlite } from "../../src/infrastructure/persistence/sqlite-driver";

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
