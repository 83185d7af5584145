// What does not grow: a capture with the payments in the store, and memory with the ids that were locked.
import { MemoryLockProvider } from "../../src/infrastructure/locking/memory/memory-lock-provider";
import { quantile } from "../measuring/row";
import { compare, inMicroseconds, sideBySide } from "../measuring/side-by-side";
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
  const rounds = bench.rounds(21);
  const sizes = { few: bench.size(1_000, 30), many: bench.size(1_000_000, 1_000) };
  const measured = bench.size(500, 10);
  const warmUp = measured / 5;
  // All over the large store, and not where the file has just been read.
  const stride = Math.floor(sizes.many / ((rounds + WARM_UPS) * (measured + warmUp)));
  const many = await sqlitePayments(sizes.many);
  const manyApplication = await openSqliteApplication(many.file);
  let n = 1;
  const late = { few: [] as number[], many: [] as number[] };
  try {
    const { few, ours } = await sideBySide(
      rounds,
      {
        // A payment is captured once: with a thousand of them, each round needs a store of its own.
        few: async () => {
          const store = await sqlitePayments(sizes.few);
          const application = await openSqliteApplication(store.file);
          try {
            for (let i = 1; i <= warmUp; i += 1) await capture(application, store.original, i);
            return await tail(measured, (i) => capture(application, store.original, warmUp + i), late.few);
          } finally {
            await application.close();
            store.remove();
          }
        },
        ours: async () => {
          const next = (): Promise<unknown> => capture(manyApplication, many.original, (n += stride));
          for (let i = 0; i < warmUp; i += 1) await next();
          return tail(measured, next, late.many);
        },
      },
      WARM_UPS,
    );
    const row = { suite: SUITE, against: "1,000 payments", show: inMicroseconds };
    const work = (quantile: string): string => `${quantile} of a capture, 1,000,000 payments in the store`;
    bench.report(compare({ ...row, work: work("p99"), atMost: 1.2, ours, theirs: few }));
    bench.report(
      compare({
        ...row,
        work: work("p99.9"),
        ours: late.many.slice(WARM_UPS),
        theirs: late.few.slice(WARM_UPS),
      }),
    );
  } finally {
    await manyApplication.close();
    many.remove();
  }
}

/** The 99th percentile, in microseconds, of calls one after the other, counted from 1. The 99.9th goes to `late`. */
async function tail(calls: number, call: (n: number) => Promise<unknown>, late: number[]): Promise<number> {
  const microseconds: number[] = [];
  for (let n = 1; n <= calls; n += 1) {
    const begun = performance.now();
    await call(n);
    microseconds.push((performance.now() - begun) * 1_000);
  }
  microseconds.sort((a, b) => a - b);
  late.push(quantile(microseconds, 0.999));
  return quantile(microseconds, 0.99);
}

async function lockIds(bench: Bench): Promise<void> {
  const ids = bench.size(1_000_000, 1_000);
  const heldAtOnce = 10_000;
  const provider = new MemoryLockProvider();
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
  for (let i = 0; i < bench.rounds(5); i += 1) {
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
