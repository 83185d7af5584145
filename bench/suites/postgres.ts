// Captures on PostgreSQL, with locks in PostgreSQL, beside pgbench sending what a capture sends: the same statements in
// the same order, each transaction for a payment of its own.
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { postgresAnswers } from "../../tests/support/probes";
import { findProgram, serverUrl } from "../../tests/support/server-availability";
import { compare, perSecond, sideBySide } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { capture } from "../store/authorized";
import { ownDatabase } from "../store/own-database";
import { pgbenchScript } from "../store/pgbench-script";
import { openPostgresApplication, postgresPayments } from "../store/postgres-payments";

const SUITE = "postgres";
const CALLERS = [1, 8, 32];
const WARM_UPS = 1;
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
    const needed = 2 * CALLERS.length * (rounds + WARM_UPS) * perRound;
    const { original, sent } = await postgresPayments(database.url, needed);
    const script = join(folder, "capture.sql");
    writeFileSync(script, pgbenchScript(sent));
    let taken = 0;
    const take = (): number => (taken += perRound) - perRound;
    const application = await openPostgresApplication(database.url, CONNECTIONS);
    try {
      for (const callers of CALLERS) {
        const { ours, theirs } = await sideBySide(
          rounds,
          {
            ours: async () => {
              const base = take();
              let n = 0;
              const begun = performance.now();
              const caller = async (): Promise<void> => {
                while (n < perRound) await capture(application, original, base + (n += 1));
              };
              await Promise.all(Array.from({ length: callers }, caller));
              return (perRound * 1_000) / (performance.now() - begun);
            },
            theirs: () => tps(pgbench, { script, url: database.url, callers, perRound, base: take() }),
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
  } finally {
    rmSync(folder, { recursive: true });
    await database.drop();
  }
}

interface Run {
  readonly script: string;
  readonly url: string;
  readonly callers: number;
  readonly perRound: number;
  readonly base: number;
}

async function tps(pgbench: string, { script, url, callers, perRound, base }: Run): Promise<number> {
  const perClient = perRound / callers;
  const variables = { i: 0, base, perclient: perClient };
  const { stdout } = await promisify(execFile)(pgbench, [
    ...["--no-vacuum", "--protocol=prepared", `--file=${script}`],
    ...[`--client=${callers}`, "--jobs=1", `--transactions=${perClient}`],
    ...Object.entries(variables).map(([name, value]) => `--define=${name}=${value}`),
    url,
  ]);
  const found = /tps = ([\d.]+) \(without initial/.exec(stdout)?.[1];
  if (found === undefined || !stdout.includes(`actually processed: ${perRound}/${perRound}`))
    throw new Error(`pgbench did not do it all:\n${stdout}`);
  return Number(found);
}
