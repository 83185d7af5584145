import { answeredWithin } from "./postgres-connection";
import type { PostgresDatabase } from "./postgres-database";
import type { Client } from "./postgres-driver";
import { MIGRATION_STATEMENT_MS, MIGRATION_WAIT_MS, migrationLimits, ON_THE_WAY_MS } from "./postgres-limits";

/** One transaction, of one process at a time. If the work throws, the session ends, and what it had begun with it. */
export function changeSchema<Result>(
  database: PostgresDatabase,
  /** Any number, the same in every process: who has it changes the schema. */
  lock: bigint,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  return database.session(async (client) => {
    const patience = answeredWithin(MIGRATION_WAIT_MS + ON_THE_WAY_MS);
    await client.query("BEGIN");
    await client.query({ text: "SELECT pg_advisory_xact_lock($1)", values: [lock.toString()], ...patience });
    const result = await work(client);
    await client.query({ text: "COMMIT", ...patience });
    return result;
  }, migrationLimits);
}

/** A step may take as long as the tables are large. */
export async function takeStep(client: Client, text: string): Promise<void> {
  await client.query({ text, ...answeredWithin(MIGRATION_STATEMENT_MS + ON_THE_WAY_MS) });
}
