import { createHash } from "node:crypto";
import type { PostgresDatabase } from "../../../persistence/postgres/postgres-database";
import type { Client } from "../../../persistence/postgres/postgres-driver";
import { changeSchema, takeStep } from "../../../persistence/postgres/postgres-schema-change";
import { integer, type Row } from "./sql-gateway-rows";

/** In order. Once released, a step never changes: a correction is the next one. */
const STEPS: readonly string[] = [
  `CREATE TABLE gateway_entries (
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
  CREATE INDEX gateway_moves_payment ON gateway_moves (payment_id, sequence);`,
  `CREATE TABLE gateway_versions (payment_id TEXT PRIMARY KEY, version BIGINT NOT NULL);`,
  `CREATE INDEX gateway_entries_payment ON gateway_entries (payment_id, gateway_key);`,
  `ALTER TABLE gateway_entries ADD COLUMN customer_page TEXT;`,
];

/**
 * Makes what is missing, and resolves with the schema's name, quoted: `holdfast_gateway`; beside a store that is not in
 * `public`, named after where that is.
 */
export function migrateGatewaySchema(database: PostgresDatabase): Promise<string> {
  return changeSchema(database, MIGRATION_LOCK, migrateOver);
}

async function migrateOver(client: Client): Promise<string> {
  const { rows } = await client.query<{ current: string | null }>("SELECT current_schema() AS current");
  const current = rows[0]?.current ?? "public";
  const schema = client.escapeIdentifier(`${current === "public" ? "holdfast" : current}_gateway`);
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}; SET LOCAL search_path TO ${schema}`);
  await client.query("CREATE TABLE IF NOT EXISTS gateway_schema (version BIGINT NOT NULL)");
  const [row] = (await client.query<Row>("SELECT coalesce(max(version), 0) AS version FROM gateway_schema"))
    .rows;
  const version = row === undefined ? 0 : Number(integer(row, "version"));
  if (version > STEPS.length) {
    throw new Error(
      `schema ${schema} was written by a newer Holdfast (schema ${version}, this one knows ${STEPS.length})`,
    );
  }
  if (version < STEPS.length) {
    for (const step of STEPS.slice(version)) await takeStep(client, step);
    await client.query("INSERT INTO gateway_schema VALUES ($1)", [STEPS.length]);
  }
  return schema;
}

/** A number that nobody has to read, the same in every process. */
const MIGRATION_LOCK = createHash("sha256")
  .update("holdfast simulated gateway the schema itself")
  .digest()
  .readBigInt64BE(0);
