import { Mutex } from "async-mutex";
import { CompiledQuery } from "kysely";

import type { OperationKind } from "../../../domain/operation";
import { SqliteDatabase } from "../../persistence/sqlite-database";
import type { GatewayLedger, GatewayTables, MoveTotals } from "./gateway-ledger";
import {
  integer,
  text,
  toAuthorization,
  toEntry,
  toMove,
  type Row,
  type SqliteValue,
} from "./sqlite-gateway-rows";

const SCHEMA_VERSION = 1n;
const SCHEMA = `
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
  CREATE INDEX gateway_moves_payment ON gateway_moves (payment_id, sequence);
`;

/**
 * Excludes, by SQLite's write lock, everybody who uses the same file, in this process and in others.
 * Survives kill -9 and power loss: it is a file of its own, with a connection and transactions of its own.
 * Not for several hosts: a file has one.
 */
export class SqliteGatewayLedger implements GatewayLedger {
  /** One connection cannot hold two transactions. */
  private readonly mutex = new Mutex();

  private constructor(private readonly database: SqliteDatabase) {}

  /** Opens the file, and makes it and its folder if they are missing. */
  static async open(path: string): Promise<SqliteGatewayLedger> {
    const ledger = new SqliteGatewayLedger(await SqliteDatabase.open(path));
    try {
      ledger.migrate(path);
      return ledger;
    } catch (error) {
      ledger.close();
      throw error;
    }
  }

  close(): void {
    this.database.close();
  }

  transaction<T>(_paymentId: string, work: (tables: GatewayTables) => Promise<T>): Promise<T> {
    return this.mutex.runExclusive(async () => {
      // Immediate: a read that turns into a write later could meet another writer when it is too late to wait.
      this.database.execute("BEGIN IMMEDIATE");
      try {
        const result = await work(this.tables);
        this.database.execute("COMMIT");
        return result;
      } catch (error) {
        this.rollBack();
        throw error;
      }
    });
  }

  async duePayments(now: Date): Promise<readonly string[]> {
    return this.all("SELECT DISTINCT payment_id FROM gateway_entries WHERE due_at <= ?", now.getTime()).map(
      (row) => text(row, "payment_id"),
    );
  }

  async totals(): Promise<MoveTotals> {
    const rows = this.all(
      "SELECT kind, COUNT(*) AS n, SUM(amount) AS amount FROM gateway_moves GROUP BY kind",
    );
    const of = (kind: OperationKind) => {
      const row = rows.find((candidate) => candidate["kind"] === kind);
      return row === undefined
        ? { count: 0, minorUnits: 0n }
        : { count: Number(integer(row, "n")), minorUnits: integer(row, "amount") };
    };
    return { authorize: of("authorize"), capture: of("capture"), void: of("void"), refund: of("refund") };
  }

  private readonly tables: GatewayTables = {
    entry: async (gatewayKey) =>
      this.one("SELECT * FROM gateway_entries WHERE gateway_key = ?", toEntry, gatewayKey),
    putEntry: async (entry) => {
      const { state } = entry;
      this.run(
        "INSERT OR REPLACE INTO gateway_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        entry.gatewayKey,
        entry.operationId,
        entry.paymentId,
        entry.kind,
        entry.amount.amount,
        entry.amount.currency,
        entry.authorizationReference,
        entry.paymentMethod,
        state.is,
        state.is === "recorded" ? JSON.stringify(state.answer) : null,
        "dueAt" in state ? state.dueAt.getTime() : null,
      );
    },
    knowsOperation: async (operationId) =>
      this.all("SELECT 1 AS n FROM gateway_entries WHERE operation_id = ? LIMIT 1", operationId).length > 0,
    dueEntries: async (paymentId, now) =>
      this.all(
        "SELECT * FROM gateway_entries WHERE payment_id = ? AND due_at <= ? ORDER BY due_at, gateway_key",
        paymentId,
        now.getTime(),
      ).map(toEntry),
    authorization: async (reference) =>
      this.one("SELECT * FROM gateway_authorizations WHERE reference = ?", toAuthorization, reference),
    putAuthorization: async (authorization) =>
      this.run(
        "INSERT OR REPLACE INTO gateway_authorizations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        authorization.reference,
        authorization.paymentId,
        authorization.amount.amount,
        authorization.amount.currency,
        authorization.paymentMethod,
        authorization.status,
        authorization.reserved,
        authorization.captured,
        authorization.refunded,
      ),
    appendMove: async (move) =>
      this.run(
        "INSERT INTO gateway_moves (payment_id, kind, gateway_key, amount, currency, at) VALUES (?, ?, ?, ?, ?, ?)",
        move.paymentId,
        move.kind,
        move.gatewayKey,
        move.amount.amount,
        move.amount.currency,
        move.at.getTime(),
      ),
    moves: async (paymentId) =>
      this.all("SELECT * FROM gateway_moves WHERE payment_id = ? ORDER BY sequence", paymentId).map(toMove),
  };

  private migrate(path: string): void {
    this.database.transaction(() => {
      const [row] = this.all("PRAGMA user_version");
      const version = row === undefined ? 0n : integer(row, "user_version");
      if (version > SCHEMA_VERSION) {
        throw new Error(
          `${path} was written by a newer Holdfast (schema ${version}, this one knows ${SCHEMA_VERSION})`,
        );
      }
      if (version === 0n) this.database.execute(`${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}`);
      return true;
    });
  }

  private rollBack(): void {
    try {
      this.database.execute("ROLLBACK");
    } catch {
      // A full disk has ended the transaction already; what went wrong first is what the caller has to hear.
    }
  }

  private one<T>(sql: string, map: (row: Row) => T, ...values: SqliteValue[]): T | null {
    const [row] = this.all(sql, ...values);
    return row === undefined ? null : map(row);
  }

  private all(sql: string, ...values: SqliteValue[]): readonly Row[] {
    return this.database.all(CompiledQuery.raw(sql, values));
  }

  private run(sql: string, ...values: SqliteValue[]): void {
    this.database.run(CompiledQuery.raw(sql, values));
  }
}
