import { Mutex } from "async-mutex";
import { CompiledQuery } from "kysely";
import type { LostLog } from "../../../persistence/sqlite/sqlite-commit-mark";
import { SqliteDatabase, type SqliteOptions } from "../../../persistence/sqlite/sqlite-database";
import type { GatewayLedger, GatewayTables, MoveTotals } from "./gateway-ledger";
import { integer, type Row, type SqlValue } from "./sql-gateway-rows";
import { selectDuePayments, selectTotals, SqlGatewayTables, type SqlRunner } from "./sql-gateway-tables";

/** In order. Once released, a step never changes: a correction is the next one. */
const STEPS: readonly string[] = [
  `
  CREATE TABLE gateway_entries (
    gateway_key TEXT PRIMARY KEY, operation_id TEXT NOT NULL, payment_id TEXT NOT NULL, kind TEXT NOT NULL,
    amount INTEGER NOT NULL, currency TEXT NOT NULL, authorization_reference TEXT, payment_method TEXT,
    state TEXT NOT NULL, answer TEXT, due_at INTEGER
  ) STRICT;
  CREATE INDEX gateway_entries_operation ON gateway_entries (operation_id);
  CREATE INDEX gateway_entries_due ON gateway_entries (payment_id, due_at) WHERE due_at IS NOT NULL;
  CREATE TABLE gateway_authorizations (
    reference TEXT PRIMARY KEY, payment_id TEXT, amount INTEGER NOT NULL, currency TEXT NOT NULL,
    payment_method TEXT NOT NULL, status TEXT NOT NULL,
    reserved INTEGER NOT NULL, captured INTEGER NOT NULL, refunded INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE gateway_moves (
    sequence INTEGER PRIMARY KEY, payment_id TEXT NOT NULL, kind TEXT NOT NULL, gateway_key TEXT NOT NULL,
    amount INTEGER NOT NULL, currency TEXT NOT NULL, at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX gateway_moves_payment ON gateway_moves (payment_id, sequence);`,
  `CREATE INDEX gateway_entries_payment ON gateway_entries (payment_id, gateway_key);`,
  `ALTER TABLE gateway_entries ADD COLUMN customer_page TEXT;`,
];

/**
 * Excludes, by SQLite's write lock, everybody who uses the same file, in this process and in others.
 * Survives kill -9 and power loss: it is a file of its own, with a connection and transactions of its own.
 * Not for several hosts: a file has one.
 */
export class SqliteGatewayLedger implements GatewayLedger {
  /** Work awaits its statements, and one connection cannot hold two transactions. */
  private readonly mutex = new Mutex();
  private readonly query: SqlRunner = async (sql, ...values) => this.all(sql, values);
  /** Outside of a transaction: shows nothing that is not on the disk yet. */
  private readonly committed: SqlRunner = (sql, ...values) =>
    this.database.rows<Row>(CompiledQuery.raw(sql, [...values]));
  private readonly tables: GatewayTables = new SqlGatewayTables(this.query);

  private constructor(private readonly database: SqliteDatabase) {}

  /** Opens the file, and makes it and its folder if they are missing. */
  static async open(path: string, options: SqliteOptions = {}): Promise<SqliteGatewayLedger> {
    const ledger = new SqliteGatewayLedger(await SqliteDatabase.open(path, options));
    try {
      if (ledger.lostLog?.isAccepted !== false) await ledger.migrate(path);
      return ledger;
    } catch (error) {
      ledger.close();
      throw error;
    }
  }

  get lostLog(): LostLog | null {
    return this.database.lostLog;
  }

  close(): void {
    this.database.close();
  }

  async transaction<T>(_paymentId: string, work: (tables: GatewayTables) => Promise<T>): Promise<T> {
    const { result, settled } = await this.mutex.runExclusive(async () => {
      const member = this.database.enter();
      try {
        const done = await work(this.tables);
        member.keep();
        return { result: done, settled: member.settled };
      } catch (error) {
        member.undo(error);
        throw error;
      }
    });
    await settled;
    return result;
  }

  ping(): Promise<void> {
    return this.database.assertWritable();
  }

  duePayments(now: Date): Promise<readonly string[]> {
    return selectDuePayments(this.committed, now);
  }

  totals(): Promise<MoveTotals> {
    return selectTotals(this.committed);
  }

  private async migrate(path: string): Promise<void> {
    const isChanged = await this.database.transaction(() => {
      const [row] = this.all("PRAGMA user_version");
      const version = row === undefined ? 0 : Number(integer(row, "user_version"));
      if (version > STEPS.length) {
        throw new Error(
          `${path} was written by a newer Holdfast (schema ${version}, this one knows ${STEPS.length})`,
        );
      }
      const missing = STEPS.slice(version);
      if (missing.length === 0) return false;
      this.database.execute(`${missing.join("\n")} PRAGMA user_version = ${STEPS.length}`);
      return true;
    });
    if (isChanged) this.database.checkpoint();
  }

  private all(sql: string, values: readonly SqlValue[] = []): readonly Row[] {
    return this.database.all(CompiledQuery.raw(sql, [...values]));
  }
}
