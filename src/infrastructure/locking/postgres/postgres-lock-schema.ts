import { createHash } from "node:crypto";

/** Where the notes about holders, the fences and the leases are, unless somebody chooses another schema. */
export const DEFAULT_LOCK_SCHEMA = "holdfast_locks";

/** Goes into statements as it is, so it must be a plain name. */
export function checkedSchema(name: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name))
    throw new RangeError(`"${name}" is no plain name for a schema: lower-case letters, digits and _`);
  return name;
}

/** 64 bits of a digest, as PostgreSQL's signed integer. Two schemas in one database are two worlds. */
export function lockKey(schema: string, resourceId: string): bigint {
  return createHash("sha256").update(`${schema}\0${resourceId}`).digest().readBigInt64BE();
}

/** PostgreSQL's text cannot hold every id (a NUL, half a surrogate pair). As a JSON string it can, and stays readable. */
export function storableId(resourceId: string): string {
  return JSON.stringify(resourceId);
}

export function idFromStored(stored: string): string {
  return JSON.parse(stored) as string;
}

/** Held by whoever draws a fence, together with others, and by whoever raises the fences, alone. */
export const fenceGate = (schema: string): bigint => lockKey(schema, "the fences");

/**
 * The fence begins at the time in milliseconds, like those of other backends, so that a change of backend does not set it
 * back. It is logged and flushed, also over a crash of the server; the notes about holds are not, for a crash ends all of
 * them. A note's key ends in its fence, so that each is found at once, however many dead ones of the same lock an old
 * snapshot keeps.
 */
export const createLockSchema = (schema: string): string => `
  BEGIN;
  SELECT pg_advisory_xact_lock(${lockKey(schema, "the schema itself")});
  CREATE SCHEMA IF NOT EXISTS ${schema};
  DO $$ BEGIN
    IF to_regclass('${schema}.fence') IS NULL THEN
      EXECUTE format('CREATE SEQUENCE ${schema}.fence START %s', (extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    END IF;
  END $$;
  CREATE SEQUENCE IF NOT EXISTS ${schema}.lease_version;
  CREATE TABLE IF NOT EXISTS ${schema}.leases (
    key text COLLATE "C" PRIMARY KEY, resource_id text NOT NULL, record text NOT NULL, version bigint NOT NULL,
    written_at timestamptz NOT NULL
  );
  CREATE UNLOGGED TABLE IF NOT EXISTS ${schema}.holds (
    key bigint, fence bigint, resource_id text NOT NULL, session integer NOT NULL,
    host text NOT NULL, pid integer NOT NULL, purpose text, since timestamptz NOT NULL, wanted boolean NOT NULL,
    PRIMARY KEY (key, fence)
  );
  COMMIT;`;

/** Asked first: who may only use the schema need not be allowed to make it. The last thing made stands for all. */
export const lockSchemaIsThere = (schema: string): string =>
  `SELECT to_regclass('${schema}.holds') IS NOT NULL AS there`;

/**
 * From here on fences are later than the server's clock and than `seen`: locks may have been lent elsewhere meanwhile, by
 * the clock, or a restored backup may have set the sequence back. One transaction; nobody draws during it.
 */
export const raiseFences = (schema: string, seen: bigint): string => `
  SELECT pg_advisory_xact_lock(${fenceGate(schema)});
  WITH wanted AS (SELECT greatest((extract(epoch FROM clock_timestamp()) * 1000)::bigint, ${seen}) AS least)
  SELECT setval('${schema}.fence', least) FROM ${schema}.fence, wanted WHERE last_value < least`;
