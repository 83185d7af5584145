import { configAt, type PostgresPlace } from "./postgres-place";
import { loadPostgres, type Client, type ClientBase, type PoolConfig } from "./postgres-driver";
import {
  CONNECT_MS,
  GOODBYE_MS,
  serverLimits,
  SESSION_ANSWER_MS,
  type ServerLimits,
} from "./postgres-limits";

const BIGINT_OID = 20;
/** An end that is gone without a word is noticed within half a minute. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/** How each connection of this program is made, whatever it is for. */
export function connectionConfig(place: PostgresPlace, applicationName = "holdfast"): PoolConfig {
  return {
    application_name: applicationName,
    ...(configAt(place) as PoolConfig),
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    // For these connections only: the driver's own table belongs to everybody in the process.
    types: { getTypeParser: parserOf },
  };
}

/** How a value of that type is read. */
export function parserOf(oid: number, format?: "text" | "binary"): (text: string) => unknown {
  return oid === BIGINT_OID
    ? BigInt
    : (loadPostgres().types.getTypeParser(oid, format) as (text: string) => unknown);
}

let clientClass: typeof Client | undefined;

/** The driver's client, but for its goodbye: to a server that is silent it would wait for an answer for ever. */
export function loadClient(): typeof Client {
  return (clientClass ??= class extends loadPostgres().Client {
    override end(): Promise<void>;
    override end(callback: (error: Error) => void): void;
    override end(callback?: (error: Error) => void): Promise<void> | void {
      const { stream } = (
        this as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
      ).connection;
      const cut = setTimeout(() => stream.destroy(), GOODBYE_MS).unref();
      this.once("end", () => clearTimeout(cut));
      return callback === undefined ? super.end() : super.end(callback);
    }
  });
}

/**
 * Limits what the server does for this connection once nobody waits for it. What a database may be set to must not be true
 * of payments: that commits are acknowledged before they are on the disk, or that statements, each of which is a
 * transaction of its own here, fail for the sake of others by being serialized. What this server does not know is left out.
 */
export async function setUp(client: ClientBase, limits: ServerLimits = serverLimits): Promise<void> {
  const wanted = Object.entries({
    ...limits,
    synchronous_commit: "on",
    default_transaction_isolation: "read committed",
  });
  const rows = wanted.map(([name, value]) => `('${name}', '${value}')`).join(", ");
  await client.query({
    text:
      `SELECT set_config(name, wanted.value, false) FROM (VALUES ${rows}) AS wanted (name, value) ` +
      "JOIN pg_settings USING (name) WHERE name <> 'synchronous_commit' OR setting = 'off'",
    ...answeredWithin(SESSION_ANSWER_MS),
  });
}

/** The driver takes it with each statement; its published types know it for a whole connection only. */
export function answeredWithin(ms: number): object {
  return { query_timeout: ms };
}
