// What waiting costs, and how exactly it ends: waits for a file lock that another process keeps, through the acquire
// loop that every polling adapter shares.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileLockProvider } from "../../src/infrastructure/locking/file/file-lock-provider";
import { LockError } from "../../src/application/ports/lock-errors";
import { quantile } from "../measuring/row";
import { compare, inMilliseconds, sideBySide } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";

const SUITE = "wait";
const BUDGETS_MS = [30, 100, 250, 500, 1_000];
/** Waits that run at once, each for an id of its own. */
const IDS = ["id:0", "id:1", "id:2", "id:3"];
const LATE_MS = 20;
const CPU_SHARE = 0.001;

export async function wait(bench: Bench): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-wait-"));
  const holder = fork(join(__dirname, "../load/lock-holder.js"), [folder, ...IDS]);
  const locks = new FileLockProvider({ directory: folder });
  try {
    await once(holder, "message");
    const deadlines = await sideBySide(bench.size(5, 1), {
      ours: () => p99OvershootMs(locks, bench.size(4, 1)),
      limit: async () => LATE_MS,
    });
    bench.report(
      compare({
        suite: SUITE,
        work: "p99 of how late a wait is told that its time is over",
        against: `${LATE_MS} ms`,
        atMost: 1,
        ours: deadlines.ours,
        theirs: deadlines.limit,
        show: inMilliseconds,
      }),
    );
    const waitMs = bench.size(60_000, 200);
    // The warm-up is as long: until the engine has collected what start-up left, which is not what waiting costs.
    const cpu = await sideBySide(bench.size(2, 1), {
      ours: () => cpuMs(() => waitInVain(locks, "id:0", waitMs)),
      limit: async () => waitMs * CPU_SHARE,
    });
    bench.report(
      compare({
        suite: SUITE,
        work: "CPU of a wait of 60 s, file lock",
        against: "0.1 % of one CPU",
        atMost: 1,
        ours: cpu.ours,
        theirs: cpu.limit,
        show: inMilliseconds,
      }),
    );
    const idleMs = await cpuMs(() => new Promise((resolve) => setTimeout(resolve, waitMs)));
    bench.report(
      compare({
        suite: SUITE,
        work: "CPU of a wait of 60 s, file lock",
        against: "a process that sleeps as long",
        ours: cpu.ours,
        theirs: cpu.ours.map(() => idleMs),
        show: inMilliseconds,
      }),
    );
  } finally {
    await locks.close();
    holder.disconnect();
    await once(holder, "exit");
    rmSync(folder, { recursive: true });
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

async function cpuMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
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
