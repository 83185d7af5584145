import type { OperationKind } from "../../../../domain/payment/operation";
import type {
  GatewayMove,
  GatewayTables,
  LedgerAuthorization,
  LedgerEntry,
  MoveTotals,
} from "./gateway-ledger";
import {
  authorizationRow,
  entryRow,
  integer,
  moveRow,
  text,
  toAuthorization,
  toEntry,
  toMove,
  type Row,
  type SqlValue,
} from "./sql-gateway-rows";

/** Runs one statement, with `?` where a value goes. */
export type SqlRunner = (sql: string, ...values: readonly SqlValue[]) => Promise<readonly Row[]>;

/** The tables, in the SQL that SQLite and PostgreSQL share. Each call is a statement of its own. */
export class SqlGatewayTables implements GatewayTables {
  /** `schema` is where the tables are, with a dot behind it. */
  constructor(
    private readonly run: SqlRunner,
    private readonly schema = "",
  ) {}

  async entry(gatewayKey: string): Promise<LedgerEntry | null> {
    const [row] = await this.run(
      `SELECT * FROM ${this.schema}gateway_entries WHERE gateway_key = ?`,
      gatewayKey,
    );
    return row === undefined ? null : toEntry(row);
  }

  async knowsOperation(operationId: string): Promise<boolean> {
    const rows = await this.run(
      `SELECT operation_id FROM ${this.schema}gateway_entries WHERE operation_id = ? LIMIT 1`,
      operationId,
    );
    return rows.length > 0;
  }

  async dueEntries(paymentId: string, now: Date): Promise<readonly LedgerEntry[]> {
    const rows = await this.run(
      `SELECT * FROM ${this.schema}gateway_entries WHERE payment_id = ? AND due_at <= ? ORDER BY due_at, gateway_key`,
      paymentId,
      BigInt(now.getTime()),
    );
    return rows.map(toEntry);
  }

  async entries(paymentId: string): Promise<readonly LedgerEntry[]> {
    const rows = await this.run(
      `SELECT * FROM ${this.schema}gateway_entries WHERE payment_id = ? ORDER BY gateway_key`,
      paymentId,
    );
    return rows.map(toEntry);
  }

  async authorization(reference: string): Promise<LedgerAuthorization | null> {
    const [row] = await this.run(
      `SELECT * FROM ${this.schema}gateway_authorizations WHERE reference = ?`,
      reference,
    );
    return row === undefined ? null : toAuthorization(row);
  }

  async moves(paymentId: string): Promise<readonly GatewayMove[]> {
    const rows = await this.run(
      `SELECT * FROM ${this.schema}gateway_moves WHERE payment_id = ? ORDER BY sequence`,
      paymentId,
    );
    return rows.map(toMove);
  }

  async putEntry(entry: LedgerEntry): Promise<void> {
    await this.insert(
      "gateway_entries",
      entryRow(entry),
      `ON CONFLICT (gateway_key) DO UPDATE SET
         state = excluded.state, answer = excluded.answer, due_at = excluded.due_at`,
    );
  }

  async putAuthorization(authorization: LedgerAuthorization): Promise<void> {
    await this.insert(
      "gateway_authorizations",
      authorizationRow(authorization),
      `ON CONFLICT (reference) DO UPDATE SET status = excluded.status, reserved = excluded.reserved,
         captured = excluded.captured, refunded = excluded.refunded`,
    );
  }

  async appendMove(move: GatewayMove): Promise<void> {
    await this.insert("gateway_moves", moveRow(move));
  }

  private async insert(table: string, row: Row, orElse = ""): Promise<void> {
    const columns = Object.keys(row);
    const values = columns.map(() => "?").join(", ");
    await this.run(
      `INSERT INTO ${this.schema}${table} (${columns.join(", ")}) VALUES (${values}) ${orElse}`,
      ...Object.values(row),
    );
  }
}

export async function selectDuePayments(run: SqlRunner, now: Date, schema = ""): Promise<readonly string[]> {
  const due = BigInt(now.getTime());
  const rows = await run(`SELECT DISTINCT payment_id FROM ${schema}gateway_entries WHERE due_at <= ?`, due);
  return rows.map((row) => text(row, "payment_id"));
}

export async function selectTotals(run: SqlRunner, schema = ""): Promise<MoveTotals> {
  const rows = await run(
    `SELECT kind, COUNT(*) AS n, CAST(SUM(amount) AS BIGINT) AS amount FROM ${schema}gateway_moves GROUP BY kind`,
  );
  const of = (kind: OperationKind) => {
    const row = rows.find((candidate) => candidate["kind"] === kind);
    return row === undefined
      ? { count: 0, minorUnits: 0n }
      : { count: Number(integer(row, "n")), minorUnits: integer(row, "amount") };
  };
  return { authorize: of("authorize"), capture: of("capture"), void: of("void"), refund: of("refund") };
}
