import { connectionConfig } from "../../persistence/postgres-connection";
import { loadPostgres } from "../../persistence/postgres-driver";
import type { PostgresSession } from "./postgres-session";

/** A lock of a session is worth nothing where a proxy deals out sessions by the statement. */
export class SharedSessionError extends Error {
  override readonly name = "SharedSessionError";

  constructor() {
    super(
      "a proxy between us and PostgreSQL hands one session to several clients (transaction or statement pooling), " +
        "which would give our locks to strangers: let the locks connect directly, or set the proxy to session pooling",
    );
  }
}

interface Backend {
  readonly pid: number;
}

const WHO = "SELECT pg_backend_pid() AS pid";

/**
 * Rejects where statements of one connection come out in different sessions. A server tells its number when a connection
 * begins, and a proxy makes one up: only then it is worth to occupy a session and see whether it was taken from ours.
 */
export async function refuseSharedSessions(session: PostgresSession, url: string): Promise<void> {
  const first = await session.ask<Backend>(WHO);
  const pids = [pidOf(first), pidOf(await session.ask<Backend>(WHO))];
  if (pids[0] !== session.announcedPid) {
    const { Client } = loadPostgres();
    const other = new Client(connectionConfig(url));
    other.on("error", () => {});
    await other.connect();
    try {
      await other.query("BEGIN");
      const occupied = pidOf((await other.query<Backend>(WHO)).rows);
      // Not ours to ask again: with a single session in the pool, the answer would wait for the one that has it.
      if (pids.includes(occupied)) throw new SharedSessionError();
      pids.push(pidOf(await session.ask<Backend>(WHO)));
    } finally {
      await other.end().catch(() => {});
    }
  }
  if (new Set(pids).size > 1) throw new SharedSessionError();
}

function pidOf(rows: readonly Backend[]): number {
  return rows[0]?.pid ?? 0;
}
