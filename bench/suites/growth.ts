// What does not grow: a capture with the payments in the store, and memory with the ids that were locked.
import { InMemoryLockProvider } from "../../src/infrastructure/locking/in-memory-lock-provider";
import { quantile } from "../measuring/row";
import { compare, inMicroseconds, sideBySide, type Side } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { capture } from "../store/authorized";
import { openSqliteApplication, sqlitePayments } from "../store/sqlite-payments";

const SUITE = "growth";
const WARM_UPS = 2;

export async function growth(bench: Bench): Promise<void> {
  await payments(bench);
  await lockIds(bench);
}

async function payments(bench: Bench): Promise<void> {
  const rounds = bench.size(21, 1);
  const captures = bench.size(500, 10);
  const needed = (rounds + WARM_UPS) * captures;
  const few = await sqlitePayments(needed);
  const many = await sqlitePayments(Math.max(needed, bench.size(1_000_000, 1_000)));
  const applications = [
    await openSqliteApplication(few.file),
    await openSqliteApplication(many.file),
  ] as const;
  const p99 = (which: 0 | 1, stride: number): Side => {
    const { original } = which === 0 ? few : many;
    let n = 1;
    return async () => {
      const microseconds: number[] = [];
      for (let i = 0; i < captures; i += 1, n += stride) {
        const begun = performance.now();
        await capture(applications[which], original, n);
        microseconds.push((performance.now() - begun) * 1_000);
      }
      return quantile(
        microseconds.sort((a, b) => a - b),
        0.99,
      );
    };
  };
  try {
    const { theirs, ours } = await sideBySide(
      rounds,
      // All over the large store, and not where the file has just been read.
      { theirs: p99(0, 1), ours: p99(1, Math.floor(bench.size(1_000_000, needed) / needed)) },
      WARM_UPS,
    );
    bench.report(
      compare({
        suite: SUITE,
        work: "p99 of a capture, 1,000,000 payments in the store",
        against: `${needed.toLocaleString("en")} payments`,
        atMost: 1.2,
        ours,
        theirs,
        show: inMicroseconds,
      }),
    );
  } finally {
    for (const application of applications) await application.close();
    few.remove();
    many.remove();
  }
}

async function lockIds(bench: Bench): Promise<void> {
  const ids = bench.size(1_000_000, 1_000);
  const heldAtOnce = 10_000;
  const provider = new InMemoryLockProvider();
  let round = 0;
  const lockAll = async (): Promise<void> => {
    round += 1;
    for (let from = 0; from < ids; from += heldAtOnce)
      await Promise.all(
        Array.from({ length: Math.min(heldAtOnce, ids) }, (_, i) =>
          provider.withLock(`round ${round}, payment:${from + i}`, async () => {}),
        ),
      );
  };
  await lockAll();
  const theirs: number[] = [];
  const ours: number[] = [];
  for (let i = 0; i < bench.size(5, 1); i += 1) {
    theirs.push(usedBytes());
    await lockAll();
    ours.push(usedBytes());
  }
  if (provider.size !== 0) throw new Error(`${provider.size} ids are still locked`);
  bench.report(
    compare({
      suite: SUITE,
      work: "heap after 1,000,000 more lock ids, 10,000 at a time",
      against: "before them",
      atMost: 1.01,
      ours,
      theirs,
      show: (bytes) => `${(bytes / 2 ** 20).toFixed(2)} MiB`,
    }),
  );
}

function usedBytes(): number {
  if (globalThis.gc === undefined) throw new Error("run with --expose-gc");
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
