// Captures on PostgreSQL, with locks in PostgreSQL, beside pgbench sending what a capture sends: the same statements in
// the same order, each transaction for a payment of its own. Both sides keep their connections and have warmed up, and at
// the end every payment that either of them took must be captured, once.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { postgresAnswers } from "../../tests/support/servers/probes";
import { findProgram, serverUrl } from "../../tests/support/servers/server-availability";
import { compare, perSecond, sideBySide } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { capture } from "../store/authorized";
import { ownDatabase } from "../store/own-database";
import { pgbenchRate, pgbenchTakes } from "../store/pgbench";
import { pgbenchScript } from "../store/pgbench-script";
import { assertCapturedOnce, openPostgresApplication, postgresPayments } from "../store/postgres-payments";

const SUITE = "postgres";
const CALLERS = [1, 8, 32];
const WARM_UPS = 1;
/** Rounds before the first: by then the program's code has been compiled, as a server's is. */
const ROUNDS_TO_COMPILE = 10;
const CONNECTIONS = 10;

export async function postgres(bench: Bench): Promise<void> {
  const server = serverUrl("postgres");
  const pgbench = join(dirname(findProgram("postgres") ?? ""), "pgbench");
  if (!(await postgresAnswers(server)))
    return bench.leaveOut("captures on PostgreSQL", "no PostgreSQL answers");
  if (!existsSync(pgbench)) return bench.leaveOut("captures on PostgreSQL", "pgbench is not installed");
  const rounds = bench.size(11, 1);
  const perRound = bench.size(640, 32);
  const database = await ownDatabase(server);
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-pgbench-"));
  try {
    const perCallers = CALLERS.map((callers) => perRound + pgbenchTakes(perRound, callers));
    const inRounds = (rounds + WARM_UPS) * perCallers.reduce((sum, each) => sum + each, 0);
    const needed = inRounds + ROUNDS_TO_COMPILE * perRound;
    const { original, sent } = await postgresPayments(database.url, needed);
    const script = join(folder, "capture.sql");
    writeFileSync(script, pgbenchScript(sent));
    const logs = join(folder, "logs");
    mkdirSync(logs);
    let taken = 0;
    const take = (count: number): number => (taken += count) - count;
    const application = await openPostgresApplication(database.url, CONNECTIONS);
    const captureRate = async (callers: number): Promise<number> => {
      const base = take(perRound);
      let n = 0;
      const begun = performance.now();
      const caller = async (): Promise<void> => {
        while (n < perRound) await capture(application, original, base + (n += 1));
      };
      await Promise.all(Array.from({ length: callers }, caller));
      return (perRound * 1_000) / (performance.now() - begun);
    };
    try {
      for (let round = 0; round < ROUNDS_TO_COMPILE; round += 1) await captureRate(Math.max(...CALLERS));
      for (const callers of CALLERS) {
        const { ours, theirs } = await sideBySide(
          rounds,
          {
            ours: () => captureRate(callers),
            theirs: () =>
              pgbenchRate({
                ...{ program: pgbench, script, url: database.url, folder: logs, callers },
                ...{ transactions: perRound, base: take(pgbenchTakes(perRound, callers)) },
              }),
          },
          WARM_UPS,
        );
        bench.report(
          compare({
            suite: SUITE,
            work: `captures, PostgreSQL, ${callers} callers`,
            against: "pgbench sending the same statements",
            atLeast: 0.6,
            ours,
            theirs,
            show: perSecond,
          }),
        );
      }
    } finally {
      await application.close();
    }
    await assertCapturedOnce(database.url, taken);
  } finally {
    rmSync(folder, { recursive: true });
    await database.drop();
  }
}
