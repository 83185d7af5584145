import type { OperationKind } from "../../../domain/operation";
import type {
  GatewayMove,
  GatewayTables,
  LedgerAuthorization,
  LedgerEntry,
  MoveTotals,
} from "./gateway-ledger";
import { integer, text, toAuthorization, toEntry, toMove, type Row, type SqlValue } from "./sql-gateway-rows";

/** Runs one statement, with `?` where a value goes. */
export type SqlRunner = (sql: string, ...values: readonly SqlValue[]) => Promise<readonly Row[]>;

/** The tables, in the SQL that SQLite and PostgreSQL share. */
export class SqlGatewayTables implements GatewayTables {
  constructor(private readonly run: SqlRunner) {}

  async entry(gatewayKey: string): Promise<LedgerEntry | null> {
    const [row] = await this.run("SELECT * FROM gateway_entries WHERE gateway_key = ?", gatewayKey);
    return row === undefined ? null : toEntry(row);
  }

  async putEntry(entry: LedgerEntry): Promise<void> {
    const { state } = entry;
    await this.run(
      `INSERT INTO gateway_entries (gateway_key, operation_id, payment_id, kind, amount, currency,
         authorization_reference, payment_method, state, answer, due_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (gateway_key) DO UPDATE SET
         state = excluded.state, answer = excluded.answer, due_at = excluded.due_at`,
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
      "dueAt" in state ? BigInt(state.dueAt.getTime()) : null,
    );
  }

  async knowsOperation(operationId: string): Promise<boolean> {
    const rows = await this.run(
      "SELECT operation_id FROM gateway_entries WHERE operation_id = ? LIMIT 1",
      operationId,
    );
    return rows.length > 0;
  }

  async dueEntries(paymentId: string, now: Date): Promise<readonly LedgerEntry[]> {
    const rows = await this.run(
      "SELECT * FROM gateway_entries WHERE payment_id = ? AND due_at <= ? ORDER BY due_at, gateway_key",
      paymentId,
      BigInt(now.getTime()),
    );
    return rows.map(toEntry);
  }

  async authorization(reference: string): Promise<LedgerAuthorization | null> {
    const [row] = await this.run("SELECT * FROM gateway_authorizations WHERE reference = ?", reference);
    return row === undefined ? null : toAuthorization(row);
  }

  async putAuthorization(authorization: LedgerAuthorization): Promise<void> {
    await this.run(
      `INSERT INTO gateway_authorizations (reference, payment_id, amount, currency, payment_method, status,
         reserved, captured, refunded)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (reference) DO UPDATE SET status = excluded.status, reserved = excluded.reserved,
         captured = excluded.captured, refunded = excluded.refunded`,
      authorization.reference,
      authorization.paymentId,
      authorization.amount.amount,
      authorization.amount.currency,
      authorization.paymentMethod,
      authorization.status,
      authorization.reserved,
      authorization.captured,
      authorization.refunded,
    );
  }

  async appendMove(move: GatewayMove): Promise<void> {
    await this.run(
      "INSERT INTO gateway_moves (payment_id, kind, gateway_key, amount, currency, at) VALUES (?, ?, ?, ?, ?, ?)",
      move.paymentId,
      move.kind,
      move.gatewayKey,
      move.amount.amount,
      move.amount.currency,
      BigInt(move.at.getTime()),
    );
  }

  async moves(paymentId: string): Promise<readonly GatewayMove[]> {
    const rows = await this.run(
      "SELECT * FROM gateway_moves WHERE payment_id = ? ORDER BY sequence",
      paymentId,
    );
    return rows.map(toMove);
  }
}

export async function selectDuePayments(run: SqlRunner, now: Date): Promise<readonly string[]> {
  const due = BigInt(now.getTime());
  const rows = await run("SELECT DISTINCT payment_id FROM gateway_entries WHERE due_at <= ?", due);
  return rows.map((row) => text(row, "payment_id"));
}

export async function selectTotals(run: SqlRunner): Promise<MoveTotals> {
  const rows = await run(
    "SELECT kind, COUNT(*) AS n, CAST(SUM(amount) AS BIGINT) AS amount FROM gateway_moves GROUP BY kind",
  );
  const of = (kind: OperationKind) => {
    const row = rows.find((candidate) => candidate["kind"] === kind);
    return row === undefined
      ? { count: 0, minorUnits: 0n }
      : { count: Number(integer(row, "n")), minorUnits: integer(row, "amount") };
  };
  return { authorize: of("authorize"), capture: of("capture"), void: of("void"), refund: of("refund") };
}
