import { randomInt } from "node:crypto";
import { connectionConfig } from "../../persistence/postgres/postgres-connection";
import { loadPostgres } from "../../persistence/postgres/postgres-driver";
import { socketTo, type PostgresPlace } from "../../persistence/postgres/postgres-place";
import { lockKey } from "./postgres-lock-schema";
import type { PostgresSession } from "./postgres-session";

/** Asking again does not help: what answers there cannot exclude anybody. */
export class UselessLocksError extends Error {
  override readonly name = "UselessLocksError";
}

const sharedSessions = (): UselessLocksError =>
  new UselessLocksError(
    "a proxy between us and PostgreSQL hands one session to several clients (transaction or statement pooling), " +
      "which would give our locks to strangers: let the locks connect directly, or set the proxy to session pooling",
  );

const lentTwice = (): UselessLocksError =>
  new UselessLocksError(
    "this server lends one advisory lock to two sessions at once, so its locks exclude nobody: " +
      "lock on a PostgreSQL, or use leases in Redis (redis://…) or Cloud Storage (gs://…)",
  );

/** Left over where a proxy keeps the session that has one: a few of them, and not one for each process that starts. */
const TRIAL_LOCKS = 64;

const WHO = "SELECT pg_backend_pid() AS pid";
const TAKE = "SELECT pg_backend_pid() AS pid, pg_try_advisory_lock($1) AS done";
const GIVE_BACK = "SELECT pg_backend_pid() AS pid, pg_advisory_unlock($1) AS done";

interface Answer {
  readonly pid: number;
  readonly done: boolean;
}

/**
 * Rejects unless a lock of this session is refused to another one, and is still this session's afterwards. Nothing that
 * a server or a proxy says about itself is believed. Ends with the session, so the session's time limit is this one's.
 */
export async function checkExclusion(
  session: PostgresSession,
  place: PostgresPlace,
  schema: string,
): Promise<void> {
  const [first] = await session.ask<Answer>(WHO);
  const { key, mine } = await takeTrialLock(session, schema);
  if (first?.pid !== mine.pid) throw sharedSessions();
  const socket = socketTo(place);
  const { Client } = loadPostgres();
  const other = new Client({ ...connectionConfig(place), stream: () => socket });
  other.on("error", () => {});
  const giveUp = (): void => void socket.destroy();
  session.lost.addEventListener("abort", giveUp);
  try {
    await other.connect();
    // Keeps a pooled session for itself meanwhile, so that ours, if it was that one, comes out elsewhere.
    await other.query("BEGIN");
    const [theirs] = (await other.query<Answer>(TAKE, [key])).rows;
    if (theirs?.done !== false) {
      await other.query("SELECT pg_advisory_unlock($1), pg_advisory_unlock($1)", [key]);
      // Not ours to ask again: with a single session in the pool, the answer would wait for the one that has it.
      throw theirs?.pid === mine.pid ? sharedSessions() : lentTwice();
    }
    const [again] = await session.ask<Answer>(GIVE_BACK, [key]);
    if (again?.done !== true || again.pid !== mine.pid) throw sharedSessions();
  } finally {
    await other.end().catch(() => {});
    session.lost.removeEventListener("abort", giveUp);
    socket.destroy();
  }
}

/** Others may be at the same check at the same time. */
async function takeTrialLock(
  session: PostgresSession,
  schema: string,
): Promise<{ readonly key: bigint; readonly mine: Answer }> {
  for (;;) {
    const key = lockKey(schema, `trial ${randomInt(TRIAL_LOCKS)}`);
    const [mine] = await session.ask<Answer>(TAKE, [key]);
    if (mine?.done === true) return { key, mine };
  }
}
