import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { HoldfastProcess } from "../program/holdfast-process";

/** `run` with this `--locks`; or, what has no such URL, the built library. */
export type WaitsWith = { readonly locks: string } | FromLibrary;

interface FromLibrary {
  readonly library: "memory" | "lease";
  readonly url?: string;
}

export interface LongWait {
  readonly adapter: string;
  /** How much later than its limit it was told, at least; below 0: how much earlier, at least. */
  readonly lateMs: number;
  /** Of one core, from `settledMs` on. */
  readonly cpuShare: number;
}

export interface LongWaits {
  readonly waits: readonly LongWait[];
  /** What waking up costs on this machine just now: a process that does so once a second and does nothing. */
  readonly wakeUpMs: number;
}

/** `run` says whom it waits for when it has waited that long; so does our script. */
const SILENT_MS = 400;
const TICKS = "setInterval(() => {}, 1_000)";

/** The waiter of `memory` is its own holder: nobody else is there. */
const LIBRARY = `
const [, library, kind, url, seconds] = process.argv;
const { MemoryLockProvider, LeaseLockProvider, PostgresLeaseRecordStore } = require(library);
const locks = kind === "memory"
  ? new MemoryLockProvider()
  : new LeaseLockProvider(new PostgresLeaseRecordStore({ url, schema: "long_wait" }));
const hold = () => locks.withLock("task:long", () => new Promise(() => { console.error("inside"); setInterval(() => {}, 1e9); }));
const wait = () => locks.withLock("task:long", async () => {}, { timeout: seconds * 1_000 })
  .catch((error) => { console.error(error.code === "lock_timeout" ? "waited" : error.code); process.exit(75); });
if (seconds === undefined || kind === "memory") void hold();
if (seconds !== undefined) { void wait(); setTimeout(() => console.error("waiting"), ${SILENT_MS}); }
`;

/** Keeps nobody from ending, should another of them fail. */
const pause = (ms: number): Promise<void> => setTimeout(ms, undefined, { ref: false });

/** For each adapter one process that holds a lock and one that waits for it in vain, all at the same time. */
export async function waitAtEach(
  adapters: Readonly<Record<string, WaitsWith>>,
  given: { main: string; folder: string; seconds: number; settledMs: number; env: NodeJS.ProcessEnv },
): Promise<LongWaits> {
  const { main, folder, seconds, settledMs, env } = given;
  const task = `long-wait-${randomBytes(6).toString("hex")}`;
  // Each of them listens to the end of this process.
  process.setMaxListeners(Math.max(process.getMaxListeners(), 40));
  const started: HoldfastProcess[] = [];
  const start = (args: readonly string[]): HoldfastProcess => {
    const process = new HoldfastProcess(args, { cwd: folder, env });
    started.push(process);
    return process;
  };
  const run = (locks: string, limit: string, command: readonly string[]): HoldfastProcess =>
    start([main, "run", task, "--locks", locks, "--lock-timeout", limit, "--", ...command]);
  const library = ({ library: kind, url = "" }: FromLibrary, ...limit: string[]) =>
    start(["-e", LIBRARY, join(main, "../locks.js"), kind, url, ...limit]);

  const one = async (adapter: string, wait: WaitsWith): Promise<LongWait> => {
    if ("locks" in wait)
      await run(wait.locks, "60", ["sh", "-c", "echo inside >&2; exec sleep 3600"]).said(/inside/);
    else if (wait.library !== "memory") await library(wait).said(/inside/);
    const startedMs = performance.now();
    const waiter = "locks" in wait ? run(wait.locks, `${seconds}`, ["true"]) : library(wait, `${seconds}`);
    await waiter.said(/waiting/);
    const beganMs = performance.now() - SILENT_MS;
    const used = pause(settledMs).then(() => cpuShareOf(waiter.pid, seconds * 1_000 - settledMs - 10_000));
    await waiter.said(/waited/);
    const toldMs = performance.now() - seconds * 1_000;
    // The limit counts from the first attempt, which lies between the start and the first answer.
    const lateMs = Math.max(0, toldMs - beganMs) + Math.min(0, toldMs - startedMs);
    return { adapter, lateMs, cpuShare: await used };
  };
  try {
    const idle = start(["-e", TICKS]);
    const ticks = pause(settledMs).then(() => cpuShareOf(idle.pid, seconds * 1_000 - settledMs));
    const waits = await Promise.all(Object.entries(adapters).map(([name, wait]) => one(name, wait)));
    return { waits, wakeUpMs: (await ticks) * 1_000 };
  } finally {
    // Not SIGKILL: the commands of the holders would outlive them, with their pipes.
    await Promise.all(started.map((process) => process.end("SIGTERM")));
  }
}

async function cpuShareOf(pid: number, forMs: number): Promise<number> {
  if (forMs <= 0) return NaN;
  const [cpu, sinceMs] = [cpuMs(pid), performance.now()];
  await pause(forMs);
  return (cpuMs(pid) - cpu) / (performance.now() - sinceMs);
}

/** Of all its threads, to the nanosecond; the sum in `/proc/<pid>/stat` has hundredths of a second. */
function cpuMs(pid: number): number {
  try {
    const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
    );
    return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
  } catch {
    // It ended early, and its own words say why.
    return NaN;
  }
}
