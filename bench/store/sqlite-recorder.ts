import { SqliteDatabase } from "../../src/infrastructure/persistence/sqlite/sqlite-database";

export interface RecordedStatement {
  readonly file: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * Runs the work while the statements of every transaction on every SQLite database are written down; `written` hands
 * over what has come since it was last asked. Reads outside of transactions are not.
 */
export async function recordingTransactions<T>(
  work: (written: () => readonly RecordedStatement[]) => Promise<T>,
): Promise<T> {
  let log: RecordedStatement[] = [];
  const inTransaction = new Set<string>();
  const note = (database: SqliteDatabase, text: string, values: readonly unknown[] = []): void => {
    const { path: file } = database as unknown as { path: string };
    if (text.startsWith("BEGIN")) inTransaction.add(file);
    if (inTransaction.has(file)) log.push({ file, text, values });
    if (text === "COMMIT" || text === "ROLLBACK") inTransaction.delete(file);
  };

  const { all, run } = SqliteDatabase.prototype;
  Object.assign(SqliteDatabase.prototype, {
    all(this: SqliteDatabase, query: Parameters<typeof all>[0]) {
      note(this, query.sql, query.parameters);
      return all.call(this, query);
    },
    run(this: SqliteDatabase, query: Parameters<typeof run>[0]) {
      note(this, query.sql, query.parameters);
      return run.call(this, query);
    },
  });
  try {
    return await work(() => {
      const written = log;
      log = [];
      return written;
    });
  } finally {
    Object.assign(SqliteDatabase.prototype, { all, run });
  }
}
