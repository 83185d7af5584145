// What a session's lock costs while an old transaction keeps PostgreSQL from clearing away what each cycle has left behind.
// Both sides do the same work at the same time, so that the ratio is right on a busy machine, too.
import { Client } from "pg";
import { PostgresLockProvider } from "../../src/infrastructure/locking/postgres/postgres-lock-provider";
import { postgresAnswers } from "../../tests/support/servers/probes";
import { serverUrl } from "../../tests/support/servers/server-availability";
import { elapsedMicroseconds } from "../measuring/cost";
import { compare, inMicroseconds, sideBySide, type Side } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { ownDatabase } from "../store/own-database";

const SUITE = "locks under an old snapshot";
const section = async (): Promise<void> => {};

export async function locksSnapshot(bench: Bench): Promise<void> {
  if (!(await postgresAnswers(serverUrl("postgres")))) {
    bench.leaveOut("locks under an old snapshot", "no PostgreSQL answers");
    return;
  }
  const server = serverUrl("postgres");
  const [remembered, forgotten] = [await ownDatabase(server), await ownDatabase(server)];
  const [ours, others] = [new PostgresLockProvider(remembered.url), new PostgresLockProvider(forgotten.url)];
  const snapshot = new Client({ connectionString: remembered.url });
  await snapshot.connect();
  const cycles = bench.size(500, 10);
  const hot = (locks: PostgresLockProvider): Side => {
    return () =>
      elapsedMicroseconds(cycles, async () => {
        for (let i = 0; i < cycles; i += 1) await locks.withLock("payment:hot", section);
      });
  };
  try {
    await others.withLock("payment:hot", section);
    await ours.withLock("payment:hot", section);
    await snapshot.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await snapshot.query("SELECT count(*) FROM holdfast_locks.holds");
    for (let i = 0; i < bench.size(22_000, 50); i += 1) await ours.withLock("payment:hot", section);
    const measured = await sideBySide(bench.size(15, 1), { ours: hot(ours), theirs: hot(others) });
    bench.report(
      compare({
        suite: SUITE,
        work: "a cycle of a hot id, PostgreSQL, under a snapshot 22,000 cycles old",
        against: "the same without",
        atMost: 1.5,
        ours: measured.ours,
        theirs: measured.theirs,
        costs: true,
        show: inMicroseconds,
      }),
    );
  } finally {
    await snapshot.end();
    for (const locks of [ours, others]) await locks.close();
    for (const database of [remembered, forgotten]) await database.drop();
  }
}
