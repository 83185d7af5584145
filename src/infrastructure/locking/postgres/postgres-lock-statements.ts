import { fenceGate } from "./postgres-lock-schema";

/** What the lock session asks. Each is one round trip and a transaction of its own. */
export class PostgresLockStatements {
  /** $1 key, $2 id, $3 host, $4 pid, $5 purpose, $6 whether the caller will wait. */
  readonly attempt: string;
  /** $1 key, $2 fence. */
  readonly release: string;
  /** $1 key. For when a statement failed after the lock was taken, or the release did. */
  readonly unlock = "SELECT pg_advisory_unlock($1)";
  readonly listen: string;
  readonly forgetTheDead: string;
  readonly list: string;

  constructor(schema: string) {
    // The lock first, then the fence: a token drawn before the lock could be smaller than the last holder's.
    // The note with the greatest fence is the holder's; older ones are of those who died inside.
    this.attempt = `
      WITH attempt AS MATERIALIZED (SELECT pg_try_advisory_lock($1) AS taken),
      gate AS MATERIALIZED (
        SELECT pg_advisory_xact_lock_shared(${fenceGate(schema)}) FROM attempt WHERE taken
      ),
      entered AS (
        INSERT INTO ${schema}.holds (key, fence, resource_id, session, host, pid, purpose, since, wanted)
        SELECT $1, nextval('${schema}.fence'), $2, pg_backend_pid(), $3, $4, $5, clock_timestamp(), false FROM gate
        RETURNING fence
      ),
      inside AS (
        SELECT fence, session, host, pid, purpose, since, wanted FROM ${schema}.holds
        WHERE (SELECT NOT taken FROM attempt) AND key = $1 ORDER BY key, fence DESC LIMIT 1
      ),
      asked AS (
        UPDATE ${schema}.holds SET wanted = true FROM inside
        WHERE $6 AND NOT inside.wanted AND holds.key = $1 AND holds.fence = inside.fence
      )
      SELECT (SELECT fence FROM entered) AS fence, (SELECT to_json(inside) FROM inside) AS holder`;
    // Who waits has said so in the holder's note, so that a release without waiters tells nobody.
    this.release = `
      WITH gone AS (DELETE FROM ${schema}.holds WHERE key = $1 AND fence = $2 RETURNING wanted)
      SELECT pg_advisory_unlock($1), (SELECT pg_notify('${schema}', $1::text) FROM gone WHERE wanted)`;
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
