/** What the lock session asks. Each is one round trip and a transaction of its own. */
export class PostgresLockStatements {
  /** $1 key, $2 id, $3 host, $4 pid, $5 purpose, $6 whether the caller will wait. */
  readonly attempt: string;
  /** $1 key. */
  readonly release: string;
  /** $1 key. For when a statement failed after the lock was taken, or the release did. */
  readonly unlock = "SELECT pg_advisory_unlock($1)";
  readonly listen: string;
  readonly forgetTheDead: string;
  readonly list: string;

  constructor(schema: string) {
    // The lock first, then the fence: a token drawn before the lock could be smaller than the last holder's.
    this.attempt = `
      WITH attempt AS MATERIALIZED (SELECT pg_try_advisory_lock($1) AS taken),
      entered AS (
        INSERT INTO ${schema}.holders (key, resource_id, session, host, pid, purpose, since, wanted)
        SELECT $1, $2, pg_backend_pid(), $3, $4, $5, clock_timestamp(), false FROM attempt WHERE taken
        ON CONFLICT (key) DO UPDATE SET resource_id = excluded.resource_id, session = excluded.session,
          host = excluded.host, pid = excluded.pid, purpose = excluded.purpose, since = excluded.since, wanted = false
        RETURNING nextval('${schema}.fence') AS fence
      ),
      inside AS (
        UPDATE ${schema}.holders SET wanted = wanted OR $6 FROM attempt WHERE NOT taken AND key = $1
        RETURNING session, host, pid, purpose, since
      )
      SELECT (SELECT fence FROM entered) AS fence, (SELECT to_json(inside) FROM inside) AS holder`;
    // Who waits has said so in the holder's row, so that a release without waiters tells nobody.
    this.release = `
      WITH gone AS (DELETE FROM ${schema}.holders WHERE key = $1 AND session = pg_backend_pid() RETURNING wanted)
      SELECT pg_advisory_unlock($1), (SELECT pg_notify('${schema}', $1::text) FROM gone WHERE wanted)`;
    this.listen = `LISTEN ${schema}`;
    this.forgetTheDead = `
      DELETE FROM ${schema}.holders WHERE key IN (
        SELECT key FROM ${schema}.holders
        WHERE NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = session) FOR UPDATE SKIP LOCKED)`;
    // Notes may be left over from the dead: the server's own table of locks decides.
    this.list = `
      SELECT resource_id, session, host, holders.pid, purpose, since, wanted
      FROM ${schema}.holders JOIN pg_locks ON pg_locks.pid = session AND granted AND locktype = 'advisory'
        AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = key
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      ORDER BY resource_id`;
  }
}
