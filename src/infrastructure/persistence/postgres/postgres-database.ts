import { once } from "node:events";
import type { Duplex } from "node:stream";
import { PostgresAdapter, PostgresQueryCompiler, type CompiledQuery } from "kysely";
import type { AuditEntry } from "../../../application/ports/audit/audit-trail";
import { connectionConfig, loadClient, setUp } from "./postgres-connection";
import { withEntry } from "./postgres-audit";
import { loadPostgres, type Client, type Pool } from "./postgres-driver";
import { isConnectionLost, isUndoneForOthers, NotSentError, translatePostgresError } from "./postgres-errors";
import {
  SESSION_ANSWER_MS,
  sessionLimits,
  statementLimitsMs,
  type ServerLimits,
  type StatementClass,
} from "./postgres-limits";
import { PreparedRun } from "./postgres-prepared-run";
import { socketTo, type PostgresPlace } from "./postgres-place";
import { queryBuilder, type SqlDatabase } from "../sql/sql-database";

/** A pool whose connections do not let themselves be closed drops them. */
const CLOSE_WITHIN_MS = 5_000;
/** A statement that was undone for the sake of others is tried again; twice in a row is no coincidence. */
const ATTEMPTS = 2;

export interface PostgresOptions {
  /** What an operator sees the connections called. */
  readonly applicationName?: string;
  /** Connections of this process at most. */
  readonly maxConnections?: number;
  /** How long an answer is worth waiting for, where that is not as long as for payments. */
  readonly limitsMs?: Readonly<Record<StatementClass, number>>;
  /** A connection that was idle when it broke: nothing is lost, the next query makes another. */
  readonly onConnectionLost?: (error: unknown) => void;
}

export const DEFAULT_MAX_CONNECTIONS = 10;

interface OnceOptions<Row> {
  /** As `deadlineOf` tells it. Default: that of a read. */
  readonly deadline?: number;
  /** Asked when the statement was sent and its answer never came. */
  readonly onLost?: () => Promise<readonly Row[]>;
  /** Where it was undone for the sake of others. Default: twice. */
  readonly attempts?: number;
}

/**
 * A pool of connections to one database. Excludes nobody: order is the lock's work.
 * Survives lost connections: what is safe to repeat is repeated once. Commits are durable even where the database's
 * default says otherwise. Answers in time, whatever the server does: a connection that is silent past the limit is cut.
 * Not for a pool that hands a session to others between statements without keeping prepared statements.
 */
export class PostgresDatabase implements SqlDatabase {
  readonly engine = "postgres";
  readonly queries = queryBuilder(new PostgresAdapter(), new PostgresQueryCompiler());
  private readonly pool: Pool;
  /** Of the pool's connections, those that are not closed yet. */
  private readonly sockets = new Set<Duplex>();
  /** The server plans each text once per connection, under this name. A few dozen. */
  private readonly names = new Map<string, string>();
  private readonly limitsMs: Readonly<Record<StatementClass, number>>;
  /** Told how long each statement has waited for a connection. */
  onConnection: ((waitedMs: number) => void) | undefined;

  constructor(
    private readonly place: PostgresPlace,
    private readonly options: PostgresOptions = {},
  ) {
    const { Pool } = loadPostgres();
    this.limitsMs = options.limitsMs ?? statementLimitsMs;
    this.pool = new Pool({
      ...connectionConfig(place, options.applicationName),
      Client: loadClient(),
      max: options.maxConnections ?? DEFAULT_MAX_CONNECTIONS,
      stream: () => this.newSocket(),
      // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the pool waits for it, its types do not say so
      onConnect: (client) => setUp(client),
    });
    // Without a listener, the end of an idle connection would be the end of the process.
    this.pool.on("error", (error) => options.onConnectionLost?.(error));
    // Nor of one that is at work: its query is told.
    this.pool.on("connect", (client) => client.on("error", () => {}));
  }

  /** For a query that may be done twice without harm. */
  async rows<Row>(query: CompiledQuery<Row>, statement: StatementClass = "read"): Promise<readonly Row[]> {
    const deadline = this.deadlineOf(statement);
    try {
      return await this.attempt(query, deadline);
    } catch (error) {
      if (!isConnectionLost(error)) throw toldOf(query, error);
    }
    try {
      return await this.attempt(query, deadline);
    } catch (error) {
      throw toldOf(query, error);
    }
  }

  acted<Row>(query: CompiledQuery<Row>, entry: AuditEntry | undefined): Promise<readonly Row[]> {
    return this.rows(entry === undefined ? query : withEntry(query, entry), "list");
  }

  /**
   * Does not repeat what may have been done: `onLost` decides what is true then, and has the rest of the time for it.
   */
  async once<Row>(
    query: CompiledQuery<Row>,
    { deadline = this.deadlineOf("read"), onLost, attempts }: OnceOptions<Row> = {},
  ): Promise<readonly Row[]> {
    try {
      return await this.attempt(query, deadline, attempts);
    } catch (error) {
      const isLost = isConnectionLost(error) && !(error instanceof NotSentError);
      if (onLost !== undefined && isLost) return onLost();
      throw translatePostgresError(error);
    }
  }

  /** When an answer to such a statement stops being worth anything. On the clock of `performance.now()`. */
  deadlineOf(statement: StatementClass): number {
    return performance.now() + this.limitsMs[statement];
  }

  /**
   * A connection of its own, outside the pool, for as long as `work` takes. Each statement has a limit; one that may
   * take longer brings its own (`answeredWithin`).
   */
  async session<Result>(
    work: (client: Client) => Promise<Result>,
    limits: ServerLimits = sessionLimits,
  ): Promise<Result> {
    const SessionClient = loadClient();
    const client = new SessionClient({
      ...connectionConfig(this.place),
      stream: () => socketTo(this.place),
      query_timeout: SESSION_ANSWER_MS,
    });
    client.on("error", (error) => this.options.onConnectionLost?.(error));
    try {
      await client.connect();
      await setUp(client, limits);
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

  /** Takes 5 s at most, also if the server does not answer. */
  async close(): Promise<void> {
    const drop = setTimeout(() => {
      for (const socket of this.sockets) socket.destroy();
    }, CLOSE_WITHIN_MS);
    if (!this.pool.ended) await this.pool.end();
    await Promise.all([...this.sockets].map((socket) => once(socket, "close")));
    clearTimeout(drop);
  }

  private newSocket(): Duplex {
    const socket = socketTo(this.place);
    this.sockets.add(socket);
    return socket.once("close", () => this.sockets.delete(socket));
  }

  private async attempt<Row>(
    query: CompiledQuery<Row>,
    deadline: number,
    attempts = ATTEMPTS,
  ): Promise<readonly Row[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.run(query, deadline);
      } catch (error) {
        if (attempt >= attempts || !isUndoneForOthers(error)) throw error;
      }
    }
  }

  /** One round trip: each statement is a transaction of its own, prepared by its name on first use. */
  private run<Row>({ sql, parameters }: CompiledQuery<Row>, deadline: number): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      let giveBack: ((error?: Error) => void) | undefined;
      let isOver = false;
      const end = (error: Error | null, rows: readonly Row[]): void => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        // After an error the connection is closed: who knows what it still expects, or which plan no longer fits.
        giveBack?.(error ?? undefined);
        if (error === null) resolve(rows);
        else reject(giveBack === undefined ? new NotSentError(error) : error);
      };
      const run = new PreparedRun<Row>(this.nameOf(sql), sql, parameters, end);
      const beganMs = performance.now();
      const leftMs = Math.max(0, deadline - beganMs);
      const timer = setTimeout(() => end(new Error("no answer in time"), []), leftMs);
      this.pool.connect((error, client, release) => {
        if (client === undefined) return end(error ?? new Error("the pool has no connection"), []);
        // Too late for this one, and in time for the next.
        if (isOver) return release();
        this.onConnection?.(performance.now() - beganMs);
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

/** A question that only reads leaves nothing behind, whatever became of it. */
function toldOf({ query: { kind } }: CompiledQuery, error: unknown): Error {
  return translatePostgresError(error, kind !== "SelectQueryNode");
}
