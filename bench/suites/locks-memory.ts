// What a lock costs where there is nothing to ask: uncontended, and per grant with a short and a long line.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { LockWork } from "../load/lock-side";
import { compare, inNanoseconds, sideBySide, type Side } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";

const SUITE = "locks-memory";

export async function locksMemory(bench: Bench): Promise<void> {
  await uncontended(bench);
  await lines(bench);
}

async function uncontended(bench: Bench): Promise<void> {
  const work: LockWork = { do: "cycles", cycles: bench.size(50_000, 1_000) };
  const [ours, mutexes, verrou, asyncLock] = ["ours", "mutexes", "verrou", "asyncLock"].map(startLender);
  const measured = await sideBySide(
    bench.size(31, 1),
    {
      ours: ours!.side(work),
      mutexes: mutexes!.side(work),
      verrou: verrou!.side(work),
      asyncLock: asyncLock!.side(work),
    },
    4,
  );
  for (const lender of [ours, mutexes, verrou, asyncLock]) lender!.stop();
  const row = { suite: SUITE, work: "`withLock`, uncontended, 1,000 ids", ours: measured.ours, costs: true };
  const show = inNanoseconds;
  bench.report(
    compare({
      ...row,
      show,
      against: "async-mutex in a counted map",
      atLeast: 0.8,
      theirs: measured.mutexes,
    }),
  );
  bench.report(
    compare({ ...row, show, against: "Verrou, memory store", atLeast: 2.5, theirs: measured.verrou }),
  );
  bench.report(compare({ ...row, show, against: "async-lock", theirs: measured.asyncLock }));
}

/** All callers of one id at once; what each of them costs from asking to leaving. */
async function lines(bench: Bench): Promise<void> {
  const grants = bench.size(50_000, 1_000);
  const short: LockWork = { do: "line", grants, waiters: bench.size(100, 10) };
  const long: LockWork = { do: "line", grants, waiters: bench.size(10_000, 1_000) };
  const [ours, mutexes, asyncLock] = ["ours", "mutexes", "asyncLock"].map(startLender);
  const measured = await sideBySide(
    bench.size(15, 1),
    {
      ours: ours!.side(long),
      oursShort: ours!.side(short),
      mutexes: mutexes!.side(long),
      mutexesShort: mutexes!.side(short),
      asyncLock: asyncLock!.side(long),
      asyncLockShort: asyncLock!.side(short),
    },
    3,
  );
  for (const lender of [ours, mutexes, asyncLock]) lender!.stop();
  const row = { suite: SUITE, work: "a grant, 10,000 waiters on one id", ours: measured.ours };
  const beside = { ...row, show: inNanoseconds, costs: true, atLeast: 0.8 };
  bench.report(compare({ ...beside, against: "async-mutex in a counted map", theirs: measured.mutexes }));
  bench.report(compare({ ...beside, against: "async-lock", theirs: measured.asyncLock }));
  const flat = { suite: SUITE, show: inNanoseconds, against: "the same with 100 waiters" };
  bench.report(
    compare({ ...flat, work: row.work, atMost: 2, ours: measured.ours, theirs: measured.oursShort }),
  );
  for (const [name, long, short] of [
    ["async-mutex", measured.mutexes, measured.mutexesShort],
    ["async-lock", measured.asyncLock, measured.asyncLockShort],
  ] as const)
    bench.report(compare({ ...flat, work: `the same of ${name}`, ours: long, theirs: short }));
}

/** In a process of its own, asked for one round at a time. */
function startLender(name: string): { side(work: LockWork): Side; stop(): void } {
  const child = fork(join(__dirname, "../load/lock-side.js"), [name]);
  return {
    side: (work) => async () => {
      const heard = once(child, "message");
      child.send(work);
      return Number((await heard)[0]);
    },
    stop: () => child.disconnect(),
  };
}
