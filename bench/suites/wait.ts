// What waiting costs, and how exactly it ends: short waits for a file lock that another process keeps, through the acquire
// loop that every polling adapter shares, and one of five minutes for each lock.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileLockProvider } from "../../src/infrastructure/locking/file/file-lock-provider";
import { LockError } from "../../src/application/ports/lock-errors";
import { GcsStandIn } from "../../tests/support/gcs-stand-in/gcs-stand-in";
import { waitAtEach, type WaitsWith } from "../../tests/support/worlds/long-waits";
import { postgresAnswers, redisAnswers } from "../../tests/support/servers/probes";
import { serverUrl } from "../../tests/support/servers/server-availability";
import { HOLDFAST } from "../load/holdfast-server";
import { quantile } from "../measuring/row";
import { compare, inMilliseconds, sideBySide } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { ownDatabase } from "../store/own-database";

const SUITE = "wait";
const BUDGETS_MS = [30, 100, 250, 500, 1_000];
/** Waits that run at once, each for an id of its own. */
const IDS = ["id:0", "id:1", "id:2", "id:3"];
const LATE_MS = 20;
const CPU_SHARE = 0.001;
const asShare = (value: number): string => `${(value * 100).toFixed(3)} %`;

export async function wait(bench: Bench): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-wait-"));
  const holder = fork(join(__dirname, "../load/lock-holder.js"), [folder, ...IDS]);
  const locks = new FileLockProvider(folder);
  try {
    await once(holder, "message");
    const deadlines = await sideBySide(bench.size(5, 1), {
      ours: () => p99OvershootMs(locks, bench.size(4, 1)),
      limit: async () => LATE_MS,
    });
    bench.report(
      compare({
        suite: SUITE,
        work: "p99 of how late a wait ends after its time limit",
        against: `${LATE_MS} ms`,
        atMost: 1,
        ours: deadlines.ours,
        theirs: deadlines.limit,
        show: inMilliseconds,
      }),
    );
    await longWaits(bench, folder);
  } finally {
    await locks.close();
    holder.disconnect();
    await once(holder, "exit");
    rmSync(folder, { recursive: true });
  }
}

/** Each lock once, all at the same time, each with a process that holds it and one that waits for it. */
async function longWaits(bench: Bench, folder: string): Promise<void> {
  const seconds = bench.size(300, 3);
  const standIn = await GcsStandIn.start({ buckets: ["locks"] });
  const adapters: Record<string, WaitsWith> = {
    memory: { library: "memory" },
    "file, kernel": { locks: "file:kernel?mode=kernel" },
    "file, exclusive-create": { locks: "file:created?mode=exclusive-create" },
    "gs:": { locks: "gs://locks/long" },
  };
  const redis = serverUrl("redis");
  if (await redisAnswers(redis)) adapters["Redis"] = { locks: redis };
  else bench.leaveOut("a long wait for Redis", "no Redis answers");
  const server = serverUrl("postgres");
  const database = (await postgresAnswers(server)) ? await ownDatabase(server) : undefined;
  if (database === undefined) bench.leaveOut("a long wait for PostgreSQL", "no PostgreSQL answers");
  else {
    adapters["PostgreSQL"] = { locks: database.url };
    adapters["PostgreSQL, lease"] = { library: "lease", url: database.url };
  }
  const { waits, wakeUpMs } = await waitAtEach(adapters, {
    main: HOLDFAST,
    folder,
    seconds,
    // Until the engine has collected what start-up left, which is not what waiting costs.
    settledMs: bench.size(30_000, 0),
    env: { STORAGE_EMULATOR_HOST: standIn.url },
  });
  await database?.drop();
  await standIn.close();
  // In a short run the process that wakes up may cost too little to be seen.
  const idle = Math.max(wakeUpMs / 1_000, 1e-6);
  for (const { adapter, cpuShare: share, lateMs } of waits) {
    // Nor is there a share of a wait that is over before anything has settled.
    const cpuShare = Number.isNaN(share) ? 0 : share;
    const cpu = { suite: SUITE, work: `CPU of a wait of five minutes, ${adapter}`, show: asShare };
    const limit = { against: "0.1 % of a core", theirs: [CPU_SHARE], atMost: 1 };
    bench.report(compare({ ...cpu, ...limit, ours: [cpuShare] }));
    const beside = { against: "a process that wakes up once a second", theirs: [idle] };
    bench.report(compare({ ...cpu, ...beside, ours: [cpuShare] }));
    const late = { suite: SUITE, work: `its lateness, ${adapter}`, against: "1 s", atMost: 1 };
    bench.report(compare({ ...late, ours: [Math.abs(lateMs)], theirs: [1_000], show: inMilliseconds }));
  }
}

async function p99OvershootMs(locks: FileLockProvider, times: number): Promise<number> {
  const overshootsMs: number[] = [];
  for (const budgetMs of BUDGETS_MS)
    for (let n = 0; n < times; n += 1)
      for (const waitedMs of await Promise.all(IDS.map((id) => waitInVain(locks, id, budgetMs))))
        overshootsMs.push(waitedMs - budgetMs);
  return quantile(
    overshootsMs.sort((a, b) => a - b),
    0.99,
  );
}

async function waitInVain(locks: FileLockProvider, id: string, budgetMs: number): Promise<number> {
  const startMs = performance.now();
  try {
    await locks.withLock(id, async () => {}, { timeout: budgetMs });
  } catch (error) {
    // On a busy machine 30 ms may be over before the first answer; then that is what it is told, and as punctually.
    if (error instanceof LockError) return performance.now() - startMs;
    throw error;
  }
  throw new Error(`${id} was free`);
}
