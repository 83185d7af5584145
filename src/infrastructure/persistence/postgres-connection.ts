import { loadPostgres, type ClientBase, type PoolConfig } from "./postgres-driver";

/** For a connection, be it made or waited for: a thousand callers share a few. */
const CONNECTION_TIMEOUT_MS = 5_000;
const BIGINT_OID = 20;

/** How each connection of this program is made, whatever it is for. */
export function connectionConfig(url: string, applicationName = "holdfast"): PoolConfig {
  return {
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    keepAlive: true,
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

/** A database may be set to acknowledge commits before they are on the disk; payments must not be. */
export async function makeDurable(client: ClientBase): Promise<void> {
  await client.query(
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
  );
}
