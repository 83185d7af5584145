import { createHash } from "node:crypto";
import { loadPostgres, type ClientBase, type Pool } from "../../persistence/postgres-driver";
import type { GatewayLedger, GatewayTables, MoveTotals } from "./gateway-ledger";
import { integer, type Row } from "./sql-gateway-rows";
import { selectDuePayments, selectTotals, SqlGatewayTables, type SqlRunner } from "./sql-gateway-tables";

const SCHEMA_VERSION = 1n;
const TABLES = `
  CREATE TABLE gateway_schema (version BIGINT NOT NULL);
  INSERT INTO gateway_schema VALUES (${SCHEMA_VERSION});
  CREATE TABLE gateway_entries (
    gateway_key TEXT PRIMARY KEY, operation_id TEXT NOT NULL, payment_id TEXT NOT NULL, kind TEXT NOT NULL,
    amount BIGINT NOT NULL, currency TEXT NOT NULL, authorization_reference TEXT, payment_method TEXT,
    state TEXT NOT NULL, answer TEXT, due_at BIGINT
  );
  CREATE INDEX gateway_entries_operation ON gateway_entries (operation_id);
  CREATE INDEX gateway_entries_due ON gateway_entries (payment_id, due_at) WHERE due_at IS NOT NULL;
  CREATE TABLE gateway_authorizations (
    reference TEXT PRIMARY KEY, payment_id TEXT, amount BIGINT NOT NULL, currency TEXT NOT NULL,
    payment_method TEXT NOT NULL, status TEXT NOT NULL,
    reserved BIGINT NOT NULL, captured BIGINT NOT NULL, refunded BIGINT NOT NULL
  );
  CREATE TABLE gateway_moves (
    sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payment_id TEXT NOT NULL, kind TEXT NOT NULL,
    gateway_key TEXT NOT NULL, amount BIGINT NOT NULL, currency TEXT NOT NULL, at BIGINT NOT NULL
  );
  CREATE INDEX gateway_moves_payment ON gateway_moves (payment_id, sequence);
`;

const MAX_CONNECTIONS = 5;
/** Shorter than a caller's patience with the gateway: a stuck database is an unknown outcome, not a hanging one. */
const CONNECTION_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 2_000;
const BIGINT_OID = 20;

/**
 * Excludes, by a lock per payment in the database, every instance that works on the same payment's rows.
 * Survives what the database survives, in a schema of its own and over connections of its own.
 * Not for anybody who runs without PostgreSQL: it is the memory that several instances share.
 */
export class PostgresGatewayLedger implements GatewayLedger {
  private constructor(
    private readonly pool: Pool,
    private readonly schema: string,
  ) {}

  /** Makes its schema if it is missing, safely when several start at once. */
  static async open(url: string): Promise<PostgresGatewayLedger> {
    const pool = makePool(url);
    try {
      return new PostgresGatewayLedger(pool, await migrate(pool));
    } catch (error) {
      await pool.end();
      throw error;
    }
  }

  transaction<T>(paymentId: string, work: (tables: GatewayTables) => Promise<T>): Promise<T> {
    const setup = `SET LOCAL search_path TO ${this.schema}; SET LOCAL synchronous_commit TO on`;
    return inTransaction(this.pool, `${setup}; ${locking(paymentId)}`, (client) =>
      work(new SqlGatewayTables(runner(client))),
    );
  }

  duePayments(now: Date): Promise<readonly string[]> {
    return this.reading((run) => selectDuePayments(run, now));
  }

  totals(): Promise<MoveTotals> {
    return this.reading(selectTotals);
  }

  async close(): Promise<void> {
    if (!this.pool.ended) await this.pool.end();
  }

  private reading<T>(read: (run: SqlRunner) => Promise<T>): Promise<T> {
    return inTransaction(this.pool, `SET LOCAL search_path TO ${this.schema}`, (client) =>
      read(runner(client)),
    );
  }
}

function makePool(url: string): Pool {
  const { Pool, types } = loadPostgres();
  const pool = new Pool({
    connectionString: url,
    application_name: "holdfast simulated gateway",
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS * 2,
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary"): ((text: string) => unknown) =>
        oid === BIGINT_OID ? BigInt : (types.getTypeParser(oid, format) as (text: string) => unknown),
    },
  });
  // Without a listener, the end of an idle connection would be the end of the process.
  pool.on("error", () => undefined);
  return pool;
}

/** `holdfast_gateway`; beside a store that is not in `public`, named after where that is. */
async function migrate(pool: Pool): Promise<string> {
  return inTransaction(pool, locking("the schema itself"), async (client) => {
    const { rows } = await client.query<{ current: string | null }>("SELECT current_schema() AS current");
    const current = rows[0]?.current ?? "public";
    const schema = client.escapeIdentifier(`${current === "public" ? "holdfast" : current}_gateway`);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}; SET LOCAL search_path TO ${schema}`);
    const known = await client.query<Row>("SELECT to_regclass('gateway_schema')::TEXT AS there");
    if (known.rows[0]?.["there"] === null) {
      await client.query(TABLES);
      return schema;
    }
    const [row] = (await client.query<Row>("SELECT MAX(version) AS version FROM gateway_schema")).rows;
    const version = row === undefined ? 0n : integer(row, "version");
    if (version > SCHEMA_VERSION) {
      throw new Error(
        `schema ${schema} was written by a newer Holdfast (schema ${version}, this one knows ${SCHEMA_VERSION})`,
      );
    }
    return schema;
  });
}

async function inTransaction<T>(
  pool: Pool,
  setup: string,
  work: (client: ClientBase) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query(`BEGIN; ${setup}`);
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    // A connection whose transaction failed is closed, not reused: the server undoes what was begun.
    client.release(failure);
  }
}

/** A number that a name always has. Nobody has to read it: another name with the same one would only wait. */
function locking(name: string): string {
  const hash = createHash("sha256").update(`holdfast simulated gateway ${name}`).digest();
  return `SELECT pg_advisory_xact_lock(${hash.readBigInt64BE(0)})`;
}

function runner(client: ClientBase): SqlRunner {
  return async (sql, ...values) => {
    let n = 0;
    const { rows } = await client.query<Row>(
      sql.replace(/\?/g, () => `$${++n}`),
      [...values],
    );
    return rows;
  };
}
