// One way of lending locks in memory, measured in a process of its own: what one of them switches on in the engine (the
// context that follows a caller through its promises) must not slow the others down.
import AsyncLock from "async-lock";
import { MemoryLockProvider } from "../../src/infrastructure/locking/memory/memory-lock-provider";
import { cpuNanoseconds } from "../measuring/cost";
import { CountedMutexes } from "../suites/counted-mutexes";

const IDS = 1_000;

/** What is asked of it: all ids one after the other, or as many callers of one id at once. */
export type LockWork =
  | { readonly do: "cycles"; readonly cycles: number }
  | { readonly do: "line"; readonly grants: number; readonly waiters: number };

interface Lender {
  withLock(id: string, section: () => Promise<number>): Promise<number>;
}

const lenders: Readonly<Record<string, () => Promise<Lender>>> = {
  ours: async () => new MemoryLockProvider(),
  mutexes: async () => new CountedMutexes(),
  asyncLock: async () => {
    const locks = new AsyncLock({ maxPending: Infinity });
    return { withLock: (id, section) => locks.acquire(id, section) };
  },
  verrou: async () => {
    const { LockFactory } = await import("@verrou/core");
    const { MemoryStore } = await import("@verrou/core/drivers/memory");
    const locks = new LockFactory(new MemoryStore());
    return { withLock: async (id, section) => (await locks.createLock(id).run(section))[1] };
  },
};

const section = async (): Promise<number> => 1;

async function nanosecondsOf(lender: Lender, work: LockWork): Promise<number> {
  if (work.do === "cycles")
    return cpuNanoseconds(work.cycles, async () => {
      for (let i = 0; i < work.cycles; i += 1) await lender.withLock(`payment:${i % IDS}`, section);
    });
  const { grants, waiters } = work;
  return cpuNanoseconds(grants, async () => {
    for (let served = 0; served < grants; served += waiters)
      await Promise.all(Array.from({ length: waiters }, () => lender.withLock("payment:1", section)));
  });
}

async function main(name = ""): Promise<void> {
  const make = lenders[name];
  if (make === undefined) throw new Error(`nobody lends as ${name}`);
  const lender = await make();
  process.on("message", (work) => {
    void nanosecondsOf(lender, work as LockWork).then((nanoseconds) => process.send?.(nanoseconds));
  });
}

void main(process.argv[2]);
