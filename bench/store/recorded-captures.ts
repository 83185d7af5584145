// What captures write into SQLite, without the captures: their transactions are written down while they really happen on
// one copy of a store, and run again, statement by statement, on another copy of it.
import { copyFileSync } from "node:fs";
import {
  loadSqlite,
  type DatabaseSync,
  type StatementSync,
} from "../../src/infrastructure/persistence/sqlite/sqlite-driver";
import { capture } from "./authorized";
import { gatewayFile, openSqliteApplication, sqlitePayments } from "./sqlite-payments";
import { recordingTransactions, type RecordedStatement } from "./sqlite-recorder";

export interface RecordedCaptures {
  /** Runs the transactions of the next captures, and says how many milliseconds that took. */
  replay(captures: number): number;
  close(): void;
}

export async function recordCaptures(count: number): Promise<RecordedCaptures> {
  const payments = await sqlitePayments(count);
  const files = [payments.file, gatewayFile(payments.file)];
  for (const file of files) copyFileSync(file, `${file}.copy`);
  const captures = await recordingTransactions(async (written) => {
    const application = await openSqliteApplication(payments.file);
    const each: (readonly RecordedStatement[])[] = [];
    try {
      for (let n = 1; n <= count; n += 1) {
        await capture(application, payments.original, n);
        each.push(written());
      }
    } finally {
      await application.close();
    }
    return each;
  });
  const copies = new Map(files.map((file) => [file, new Replayed(`${file}.copy`)]));
  let done = 0;
  return {
    replay: (wanted) => {
      const begun = performance.now();
      for (const end = done + wanted; done < end; done += 1)
        for (const { file, text, values } of captures[done]!) copies.get(file)!.run(text, values);
      return performance.now() - begun;
    },
    close: () => {
      for (const copy of copies.values()) copy.close();
      payments.remove();
    },
  };
}

/** The same settings as the program's, each text prepared once. */
class Replayed {
  private readonly database: DatabaseSync;
  private readonly statements = new Map<string, StatementSync>();

  constructor(path: string) {
    this.database = new (loadSqlite().DatabaseSync)(path);
    this.database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  }

  run(text: string, values: readonly unknown[]): void {
    let statement = this.statements.get(text);
    if (statement === undefined) this.statements.set(text, (statement = this.database.prepare(text)));
    statement.all(...(values as string[]));
  }

  close(): void {
    this.statements.clear();
    this.database.close();
  }
}
