import { Client } from "pg";
import { lockKey } from "../../../src/infrastructure/locking/postgres/postgres-lock-schema";

/** An operator's look from outside. */
export async function query<Row>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** The server process whose session holds the lock. */
export async function sessionHolding(url: string, schema: string, resourceId: string): Promise<number> {
  const found = await query<{ pid: number }>(
    url,
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
       AND (classid::bigint << 32 | objid::bigint) = $1`,
    [lockKey(schema, resourceId)],
  );
  if (found.length !== 1) throw new Error(`${resourceId} is held by ${found.length} sessions`);
  return found[0]!.pid;
}

/** Ends the session that holds the lock, as an operator would. */
export async function terminateHolder(url: string, schema: string, resourceId: string): Promise<void> {
  const pid = await sessionHolding(url, schema, resourceId);
  await query(url, "SELECT pg_terminate_backend($1, 5000)", [pid]);
}
