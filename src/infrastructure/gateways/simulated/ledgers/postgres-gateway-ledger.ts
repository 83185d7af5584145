import { CompiledQuery } from "kysely";
import { PostgresDatabase } from "../../../persistence/postgres/postgres-database";
import type { GatewayLedger, GatewayTables, LooksAt, MoveTotals } from "./gateway-ledger";
import { migrateGatewaySchema } from "./postgres-gateway-schema";
import { PostgresGatewayWorks } from "./postgres-gateway-works";
import { PostgresGatewayTables } from "./postgres-gateway-tables";
import { selectDuePayments, selectTotals, SqlGatewayTables, type SqlRunner } from "./sql-gateway-tables";
import type { Row } from "./sql-gateway-rows";

const MAX_CONNECTIONS = 5;
/** Shorter than a caller's patience with the gateway: a stuck database is an unknown outcome, not a hanging one. */
const LIMIT_MS = 2_000;
/** Of several works on one payment, one is always done: this many would have to be at it at once. */
const ATTEMPTS = 100;

/**
 * Excludes nobody: a work that was overtaken by another one on its payment, in whichever instance, is run again.
 * Survives what the database survives, in a schema of its own and over connections of its own.
 * Not for anybody who runs without PostgreSQL: it is the memory that several instances share.
 */
export class PostgresGatewayLedger implements GatewayLedger {
  private readonly works: PostgresGatewayWorks;
  /** For what is not fetched ahead. */
  private readonly run: SqlRunner;
  private readonly stored: GatewayTables;

  private constructor(
    private readonly database: PostgresDatabase,
    private readonly schema: string,
  ) {
    this.works = new PostgresGatewayWorks(database, schema);
    this.run = (sql, ...parameters) => {
      let n = 0;
      const numbered = sql.replaceAll("?", () => `$${(n += 1)}`);
      return database.rows<Row>(CompiledQuery.raw(numbered, [...parameters]));
    };
    this.stored = new SqlGatewayTables(this.run, `${schema}.`);
  }

  /** Makes its schema if it is missing, safely when several start at once. */
  static async open(url: string): Promise<PostgresGatewayLedger> {
    const database = new PostgresDatabase(url, {
      applicationName: "holdfast simulated gateway",
      maxConnections: MAX_CONNECTIONS,
      limitsMs: { save: LIMIT_MS, read: LIMIT_MS, list: LIMIT_MS },
    });
    try {
      return new PostgresGatewayLedger(database, await migrateGatewaySchema(database));
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  async transaction<T>(
    paymentId: string,
    work: (tables: GatewayTables) => Promise<T>,
    looksAt: LooksAt = {},
  ): Promise<T> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const fetched = await this.works.fetch(paymentId, looksAt);
      const tables = new PostgresGatewayTables(this.stored, fetched, looksAt);
      const result = await work(tables);
      if (!tables.hasNews) return result;
      if (await this.works.write({ paymentId, version: fetched.version, tables })) return result;
    }
    throw new Error(`others were faster at payment ${paymentId}, ${ATTEMPTS} times in a row`);
  }

  duePayments(now: Date): Promise<readonly string[]> {
    return selectDuePayments(this.run, now, `${this.schema}.`);
  }

  totals(): Promise<MoveTotals> {
    return selectTotals(this.run, `${this.schema}.`);
  }

  close(): Promise<void> {
    return this.database.close();
  }
}
