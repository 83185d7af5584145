// Captures on PostgreSQL, with locks in PostgreSQL, beside pgbench sending what a capture of commit e1e8ac8 sent: its statements
// in their order, each transaction for a payment of its own. Both sides keep their connections and have warmed up, and at
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
import { frozenCapture } from "../store/frozen-capture";
import { pgbenchRate, pgbenchTakes } from "../store/pgbench";
import { pgbenchScript } from "../store/pgbench-script";
import {
  assertCapturedOnce,
  copyTables,
  openPostgresApplication,
  postgresPayments,
} from "../store/postgres-payments";

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
  const rounds = bench.rounds(11);
  const perRound = bench.size(640, 32);
  const database = await ownDatabase(server);
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-pgbench-"));
  try {
    const inRounds = (rounds + WARM_UPS) * CALLERS.length * perRound;
    const original = await postgresPayments(database.url, inRounds + ROUNDS_TO_COMPILE * perRound);
    const frozen = frozenCapture();
    const perCallers = CALLERS.map((callers) => pgbenchTakes(perRound, callers));
    const copied = (rounds + WARM_UPS) * perCallers.reduce((sum, each) => sum + each, 0);
    await copyTables(database.url, frozen.tables, copied);
    const script = join(folder, "capture.sql");
    writeFileSync(script, pgbenchScript(frozen.sent));
    const logs = join(folder, "logs");
    mkdirSync(logs);
    const taken = { ours: 0, theirs: 0 };
    const take = (side: keyof typeof taken, count: number): number => (taken[side] += count) - count;
    const application = await openPostgresApplication(database.url, CONNECTIONS);
    const captureRate = async (callers: number): Promise<number> => {
      const base = take("ours", perRound);
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
                ...{ transactions: perRound, base: take("theirs", pgbenchTakes(perRound, callers)) },
              }),
          },
          WARM_UPS,
        );
        bench.report(
          compare({
            suite: SUITE,
            work: `captures, PostgreSQL, ${callers} callers`,
            against: "pgbench, the statements of e1e8ac8 one by one",
            ...(callers === 32 && { atLeast: 1 }),
            ours,
            theirs,
            show: perSecond,
          }),
        );
      }
    } finally {
      await application.close();
    }
    await assertCapturedOnce(database.url, taken.ours + taken.theirs);
  } finally {
    rmSync(folder, { recursive: true });
    await database.drop();
  }
}
