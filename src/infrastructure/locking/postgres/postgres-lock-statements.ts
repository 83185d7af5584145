import { MOST_TOGETHER } from "../../persistence/postgres/together/most-together";
import { fenceGate } from "./postgres-lock-schema";

/** What the lock session asks. Each is one round trip and a transaction of its own. */
export class PostgresLockStatements {
  /** Arrays: $1 keys, $2 ids, $3 purposes, $4 whether the caller will wait; for all of them: $5 host, $6 pid. */
  readonly attempt: string;
  /** $1 key, $2 fence. */
  readonly release: string;
  /** The same for `MOST_TOGETHER` of them: $1, $3, … keys, $2, $4, … fences; nulls for those that are not there. */
  readonly releaseMany: string;
  /** $1 key. For when a statement failed after the lock was taken, or the release did. */
  readonly unlock = "SELECT pg_advisory_unlock($1)";
  readonly listen: string;
  readonly forgetTheDead: string;
  readonly list: string;

  constructor(schema: string) {
    // The lock first, then the fence: a token drawn before the lock could be smaller than the last holder's.
    // The note with the greatest fence is the holder's; older ones are of those who died inside.
    // A note that somebody else is at is left alone: it is being marked or removed, and who takes several never waits.
    this.attempt = `
      WITH attempt AS MATERIALIZED (
        SELECT key, resource_id, purpose, may_wait, pg_try_advisory_lock(key) AS taken
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::boolean[]) AS asked (key, resource_id, purpose, may_wait)
      ),
      gate AS MATERIALIZED (
        SELECT pg_advisory_xact_lock_shared(${fenceGate(schema)}) FROM (SELECT FROM attempt WHERE taken LIMIT 1) AS one
      ),
      entered AS (
        INSERT INTO ${schema}.holds (key, fence, resource_id, session, host, pid, purpose, since, wanted)
        SELECT key, nextval('${schema}.fence'), resource_id, pg_backend_pid(), $5, $6, purpose, clock_timestamp(), false
        FROM gate CROSS JOIN attempt WHERE taken
        RETURNING key, fence
      ),
      inside AS MATERIALIZED (
        SELECT attempt.key, may_wait, holder.* FROM attempt CROSS JOIN LATERAL (
          SELECT fence, session, host, pid, purpose, since, wanted FROM ${schema}.holds
          WHERE holds.key = attempt.key ORDER BY key, fence DESC LIMIT 1
        ) AS holder WHERE NOT taken
      ),
      unmarked AS MATERIALIZED (
        SELECT holder.* FROM inside CROSS JOIN LATERAL (
          SELECT key, fence FROM ${schema}.holds
          WHERE holds.key = inside.key AND holds.fence = inside.fence FOR NO KEY UPDATE SKIP LOCKED
        ) AS holder WHERE may_wait AND NOT wanted
      ),
      marked AS (
        UPDATE ${schema}.holds SET wanted = true FROM unmarked
        WHERE holds.key = ANY ($1::bigint[]) AND holds.key = unmarked.key AND holds.fence = unmarked.fence
      )
      SELECT key, entered.fence, CASE WHEN inside.key IS NOT NULL THEN to_json(inside) END AS holder
      FROM attempt LEFT JOIN entered USING (key) LEFT JOIN inside USING (key)`;
    // Who waits has said so in the holder's note, so that a release without waiters tells nobody.
    this.release = releaseOf(schema, 1);
    this.releaseMany = releaseOf(schema, MOST_TOGETHER);
    this.listen = `LISTEN ${schema}`;
    this.forgetTheDead = `
      DELETE FROM ${schema}.holds WHERE (key, fence) IN (
        SELECT key, fence FROM ${schema}.holds
        WHERE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = session) FOR UPDATE SKIP LOCKED)`;
    // Notes may be left over from the dead: the server's own table of locks decides.
    this.list = `
      SELECT DISTINCT ON (key) resource_id, session, host, holds.pid, purpose, since, wanted
      FROM ${schema}.holds JOIN pg_locks ON pg_locks.pid = session AND granted AND locktype = 'advisory'
        AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = key
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      ORDER BY key, fence DESC`;
  }
}

/**
 * Each note is removed by itself: joined to a list of them, the planner may go through all notes, of which an old snapshot
 * keeps many that are dead.
 */
function releaseOf(schema: string, count: number): string {
  const pairs = Array.from({ length: count }, (_, i) => ({
    key: `$${2 * i + 1}::bigint`,
    fence: `$${2 * i + 2}::bigint`,
  }));
  const gone = pairs.map(
    ({ key, fence }, i) =>
      `gone_${i} AS (DELETE FROM ${schema}.holds WHERE key = ${key} AND fence = ${fence} RETURNING key, wanted)`,
  );
  const all = pairs.map((_, i) => `SELECT key FROM gone_${i} WHERE wanted`);
  return `
    WITH ${gone.join(", ")}
    SELECT (SELECT count(pg_advisory_unlock(key)) FROM unnest(ARRAY[${pairs.map(({ key }) => key).join(", ")}]) AS key),
      (SELECT count(pg_notify('${schema}', key::text)) FROM (${all.join(" UNION ALL ")}) AS gone)`;
}
