import { PostgresAdapter, PostgresQueryCompiler, type CompiledQuery } from "kysely";
import { connectionConfig, makeDurable } from "./postgres-connection";
import { loadPostgres, type Client, type Pool } from "./postgres-driver";
import { isConnectionLost, isUndoneForOthers, translatePostgresError } from "./postgres-errors";
import { PreparedRun } from "./prepared-run";
import { queryBuilder, type SqlDatabase } from "./sql-database";

/** A query of ours is answered in a few milliseconds; each wait has a bound nevertheless. */
const STATEMENT_TIMEOUT_MS = 3_000;
/** How much longer an answer may take, so that it is the server who ends a statement, and says so. */
const ON_THE_WAY_MS = 1_000;
/** A statement that was undone for the sake of others is tried again; three in a row is no coincidence. */
const ATTEMPTS = 3;

export interface PostgresOptions {
  /** What an operator sees the connections called. */
  readonly applicationName?: string;
  /** Connections of this process at most. */
  readonly maxConnections?: number;
  /** After this the server ends a statement. */
  readonly statementTimeoutMs?: number;
  /** A connection that was idle when it broke: nothing is lost, the next query makes another. */
  readonly onConnectionLost?: (error: unknown) => void;
}

export const DEFAULT_MAX_CONNECTIONS = 10;

/**
 * A pool of connections to one database. Excludes nobody: order is the lock's work.
 * Survives lost connections: what is safe to repeat is repeated once. Commits are durable even where the database's
 * default says otherwise.
 * Not for a pool that hands a session to others between statements without keeping prepared statements.
 */
export class PostgresDatabase implements SqlDatabase {
  readonly engine = "postgres";
  readonly queries = queryBuilder(new PostgresAdapter(), new PostgresQueryCompiler());
  private readonly pool: Pool;
  /** The server plans each text once per connection, under this name. A few dozen. */
  private readonly names = new Map<string, string>();

  constructor(
    private readonly url: string,
    private readonly options: PostgresOptions = {},
  ) {
    const { Pool } = loadPostgres();
    const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS;
    this.pool = new Pool({
      ...connectionConfig(url, options.applicationName),
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + ON_THE_WAY_MS,
      max: options.maxConnections ?? DEFAULT_MAX_CONNECTIONS,
      // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool waits for it, its types do not say so
      onConnect: makeDurable,
    });
    // Without a listener, the end of an idle connection would be the end of the process.
    this.pool.on("error", (error) => options.onConnectionLost?.(error));
    // Nor of one that is at work: its query is told.
    this.pool.on("connect", (client) => client.on("error", () => {}));
  }

  /** For a query that may be done twice without harm. */
  async rows<Row>(query: CompiledQuery<Row>): Promise<readonly Row[]> {
    try {
      return await this.attempt(query);
    } catch (error) {
      if (!isConnectionLost(error)) throw translatePostgresError(error);
    }
    return this.once(query);
  }

  /** Does not repeat what may have been done: `onLost` decides what is true then. */
  async once<Row>(
    query: CompiledQuery<Row>,
    onLost?: () => Promise<readonly Row[]>,
  ): Promise<readonly Row[]> {
    try {
      return await this.attempt(query);
    } catch (error) {
      if (onLost !== undefined && isConnectionLost(error)) return onLost();
      throw translatePostgresError(error);
    }
  }

  /** A connection of its own, outside the pool and without its time limits, for as long as `work` takes. */
  async session<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const { Client } = loadPostgres();
    const client = new Client(connectionConfig(this.url));
    client.on("error", (error) => this.options.onConnectionLost?.(error));
    try {
      await client.connect();
      return await work(client);
    } finally {
      await client.end().catch(() => {});
    }
  }

  get connections(): {
    readonly open: number;
    readonly idle: number;
    readonly waiting: number;
    readonly max: number;
  } {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return {
      open: totalCount,
      idle: idleCount,
      waiting: waitingCount,
      max: this.options.maxConnections ?? DEFAULT_MAX_CONNECTIONS,
    };
  }

  async close(): Promise<void> {
    if (!this.pool.ended) await this.pool.end();
  }

  private async attempt<Row>(query: CompiledQuery<Row>): Promise<readonly Row[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.run(query);
      } catch (error) {
        if (attempt >= ATTEMPTS || !isUndoneForOthers(error)) throw error;
      }
    }
  }

  /** One round trip: each statement is a transaction of its own, prepared by its name on first use. */
  private run<Row>({ sql, parameters }: CompiledQuery<Row>): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      let giveBack: (error?: Error) => void = () => {};
      const run = new PreparedRun<Row>(this.nameOf(sql), sql, parameters, (error, rows) => {
        // After an error the connection is closed: who knows what it still expects, or which plan no longer fits.
        giveBack(error ?? undefined);
        if (error === null) resolve(rows);
        else reject(error);
      });
      this.pool.connect((error, client, release) => {
        if (client === undefined) return reject(error ?? new Error("the pool has no connection"));
        giveBack = release;
        client.query(run);
      });
    });
  }

  private nameOf(text: string): string {
    const name = this.names.get(text) ?? `holdfast_${this.names.size + 1}`;
    this.names.set(text, name);
    return name;
  }
}
