// What waiting costs, and how exactly it ends: waits for a file lock that another process keeps, through the acquire
// loop that every polling adapter shares. Aim: within 20 ms of the deadline at p99, and under 0.1 % of a CPU.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileLockProvider } from "../src/infrastructure/locking/file/file-lock-provider";
import { LockTimeoutError } from "../src/locks";

const BUDGETS_MS = [30, 100, 250, 500, 1_000, 2_000];
const WAITS_PER_BUDGET = 20;
/** Waits that run at once, each for an id of its own. */
const SIDE_BY_SIDE = 4;
const LONG_WAIT_MS = 60_000;
/** Until the engine has collected what start-up left behind, which is not what waiting costs. */
const WARM_UP_MS = 15_000;

const [role, directory] = process.argv.slice(2);

async function main(): Promise<void> {
  if (role === "hold" && directory !== undefined) return hold(directory);
  const folder = mkdtempSync(join(tmpdir(), "lock-wait-"));
  const holder = spawn(process.execPath, [...process.execArgv, __filename, "hold", folder], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    await once(holder.stdout, "data");
    const locks = new FileLockProvider({ directory: folder });
    await measureDeadlines(locks);
    await measureCpu(locks);
    await locks.close();
  } finally {
    holder.stdin.end();
    await once(holder, "close");
    rmSync(folder, { recursive: true });
  }
}

/** Keeps all ids until its standard input ends. */
async function hold(folder: string): Promise<void> {
  const locks = new FileLockProvider({ directory: folder });
  const ended = once(process.stdin.resume(), "end");
  let inside = 0;
  const section = async (): Promise<void> => {
    inside += 1;
    if (inside === SIDE_BY_SIDE) process.stdout.write("holding\n");
    await ended;
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, (_, n) => locks.withLock(`id:${n}`, section)));
  await locks.close();
}

async function measureDeadlines(locks: FileLockProvider): Promise<void> {
  const overshootsMs: number[] = [];
  for (const budgetMs of BUDGETS_MS)
    for (let n = 0; n < WAITS_PER_BUDGET; n += SIDE_BY_SIDE) {
      const waits = Array.from({ length: SIDE_BY_SIDE }, (_, id) => waitInVain(locks, `id:${id}`, budgetMs));
      for (const waitedMs of await Promise.all(waits)) overshootsMs.push(waitedMs - budgetMs);
    }
  overshootsMs.sort((a, b) => a - b);
  const at = (share: number): string => overshootsMs[Math.ceil(overshootsMs.length * share) - 1]!.toFixed(1);
  console.log(
    `deadline, ${overshootsMs.length} waits of ${BUDGETS_MS[0]} to ${BUDGETS_MS.at(-1)} ms with the lock held elsewhere`,
  );
  console.log(
    `  earliest ${overshootsMs[0]!.toFixed(1)} ms, median ${at(0.5)} ms, p99 ${at(0.99)} ms, worst ${at(1)} ms after it`,
  );
}

async function measureCpu(locks: FileLockProvider): Promise<void> {
  await waitInVain(locks, "id:0", WARM_UP_MS);
  const before = process.cpuUsage();
  await waitInVain(locks, "id:0", LONG_WAIT_MS);
  const { user, system } = process.cpuUsage(before);
  const cpuMs = (user + system) / 1000;
  console.log(`CPU of one wait of ${LONG_WAIT_MS / 1000} s, start-up not counted`);
  console.log(`  ${cpuMs.toFixed(0)} ms, ${((cpuMs / LONG_WAIT_MS) * 100).toFixed(3)} %`);
}

async function waitInVain(locks: FileLockProvider, id: string, budgetMs: number): Promise<number> {
  const startMs = performance.now();
  try {
    await locks.withLock(id, async () => {}, { timeout: budgetMs });
  } catch (error) {
    if (error instanceof LockTimeoutError) return performance.now() - startMs;
    throw error;
  }
  throw new Error(`${id} was free`);
}

void main();
