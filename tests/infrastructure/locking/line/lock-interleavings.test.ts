import fc from "fast-check";
import { LockCancelledError, LockTimeoutError } from "../../../../src/application/ports/lock-errors";
import type { LockProvider } from "../../../../src/application/ports/lock-provider";
import { MemoryLockProvider } from "../../../../src/infrastructure/locking/memory/memory-lock-provider";
import { LinedLockProvider } from "../../../../src/infrastructure/locking/line/lined-lock-provider";
import type { LockClock } from "../../../../src/infrastructure/locking/lock-clock";
import { FakeLockServer } from "../../../support/fakes/fake-lock-backend";
import { settled } from "../../../support/fakes/gate";
import { size } from "../../../support/test-size";

/** What one caller does; when each of its steps happens is up to the scheduler. */
interface Caller {
  readonly id: "a" | "b";
  readonly process: 0 | 1;
  readonly steps: number;
  readonly ends: "well" | "rejecting" | "throwing";
  readonly gives: "up" | "not up" | "only a single attempt";
}

const callers = fc.array(
  fc.record<Caller>({
    id: fc.constantFrom("a", "b"),
    process: fc.constantFrom(0, 1),
    steps: fc.integer({ min: 0, max: 3 }),
    ends: fc.constantFrom("well", "rejecting", "throwing"),
    gives: fc.constantFrom("up", "not up", "not up", "only a single attempt"),
  }),
  { minLength: 2, maxLength: 6 },
);

/** Timers that fire whenever the scheduler says so, in any order: no wait may rest on how long something takes. */
function anyTime(s: fc.Scheduler): LockClock {
  let now = 0;
  return {
    monotonicMs: () => (now += 1),
    wallMs: () => now,
    after: (_, callback) => {
      let isPending = true;
      void s.schedule(Promise.resolve(), "timer").then(() => isPending && callback());
      return () => (isPending = false);
    },
  };
}

/** Plays all callers, and holds what they live through against the promises. */
async function play(
  s: fc.Scheduler,
  all: readonly Caller[],
  processes: readonly LockProvider[],
): Promise<void> {
  const inside = new Map<string, number>();
  const began = new Set<Caller>();
  const own = new Error("the section's own");

  const step = (label: string): Promise<void> => s.schedule(Promise.resolve(), label);

  const lives = all.map(async (caller) => {
    const { id, steps, ends, gives } = caller;
    const stop = new AbortController();
    const section = (): Promise<string> => {
      began.add(caller);
      expect(inside.get(id) ?? 0).toBe(0);
      inside.set(id, 1);
      if (ends === "throwing") {
        inside.set(id, 0);
        throw own;
      }
      return (async () => {
        for (let n = 0; n < steps; n += 1) await step("inside");
        inside.set(id, 0);
        if (ends === "rejecting") throw own;
        return "well";
      })();
    };
    await step("arrival");
    if (gives === "up") void step("cancellation").then(() => stop.abort());
    const options = {
      timeout: gives === "only a single attempt" ? 0 : ("infinite" as const),
      signal: stop.signal,
    };
    const outcome = await processes[caller.process]!.withLock(id, section, options).catch(
      (error: unknown) => error,
    );
    if (outcome instanceof LockCancelledError || outcome instanceof LockTimeoutError) {
      expect(gives).not.toBe("not up");
      expect(began).not.toContain(caller);
    } else {
      expect(outcome).toBe(ends === "well" ? "well" : own);
      expect(began).toContain(caller);
    }
    return caller;
  });

  await s.waitFor(Promise.all(lives));
  const toldNo = all.filter((caller) => !began.has(caller));
  for (await settled(); s.count() > 0; await settled()) await s.waitNext(1);
  for (const caller of toldNo) expect(began).not.toContain(caller);
  expect([...inside.values()].every((count) => count === 0)).toBe(true);
}

/** Hundreds of worlds take a moment on a busy machine. */
jest.setTimeout(60_000);

describe("in whatever order things happen", () => {
  it("MemoryLockProvider lets one in at a time, tells everybody the truth and keeps nothing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), callers, async (s, all) => {
        const locks = new MemoryLockProvider({ clock: anyTime(s) });
        await play(s, all, [locks, locks]);
        expect(locks.size).toBe(0);
      }),
      { numRuns: size(500, 150) },
    );
  });

  it("two lines on one backend do so too, and give back every lock and every place", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), callers, async (s, all) => {
        const server = new FakeLockServer();
        const clock = anyTime(s);
        const lines = ["process-1", "process-2"].map((name) => {
          const backend = server.backend(name);
          backend.beforeAttempt = () => s.schedule(Promise.resolve(), "request");
          backend.beforeRelease = () => s.schedule(Promise.resolve(), "release");
          return new LinedLockProvider(backend, { clock });
        });
        await play(s, all, lines);
        const left = {
          held: server.held.size,
          waiting: server.waiters.size,
          listening: server.listeners.size,
        };
        expect(left).toEqual({ held: 0, waiting: 0, listening: 0 });
        expect(lines.map(({ size }) => size)).toEqual([0, 0]);
      }),
      { numRuns: size(500, 150) },
    );
  });

  it("callers of one process are served in the order in which they asked", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.integer({ min: 2, max: 8 }),
        fc.boolean(),
        async (s, count, remote) => {
          const clock = anyTime(s);
          const backend = new FakeLockServer().backend();
          backend.beforeAttempt = () => s.schedule(Promise.resolve(), "request");
          const locks = remote
            ? new LinedLockProvider(backend, { clock })
            : new MemoryLockProvider({ clock });
          const asked: number[] = [];
          const served: number[] = [];
          const all = Array.from({ length: count }, async (_, n) => {
            await s.schedule(Promise.resolve(), "arrival");
            asked.push(n);
            const section = async (): Promise<void> => {
              served.push(n);
              await s.schedule(Promise.resolve(), "inside");
            };
            await locks.withLock("a", section, { timeout: "infinite" });
          });
          await s.waitFor(Promise.all(all));
          expect(served).toEqual(asked);
        },
      ),
      { numRuns: size(300, 100) },
    );
  });
});
