import type { PostgresSession } from "./postgres-session";

/**
 * Since when no session of before can have been there: the start of the server, or the end of its last crash, after
 * which it goes on under the same start and with statistics that begin anew.
 */
const UP_FOR = `
  SELECT extract(epoch FROM clock_timestamp() - greatest(pg_postmaster_start_time(), stats_reset))::float8 * 1000
    AS up_ms
  FROM pg_stat_bgwriter`;

/**
 * For how much longer a session that has just begun must not lend: who held locks on this server before it went down may
 * not have heard of it, and believes in them for as long as a silence may last. Never longer than that, whatever the
 * server's clock says.
 */
export async function silenceLeftMs(session: PostgresSession): Promise<number> {
  const limitMs = session.silenceLimitMs;
  const [server] = await session.ask<{ up_ms: number | null }>(UP_FOR);
  return Math.min(limitMs, Math.max(0, limitMs - (server?.up_ms ?? 0)));
}
