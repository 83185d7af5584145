import { Semaphore } from "async-mutex";
import type { LockProvider } from "../../../../src/application/ports/lock-provider";
import { MemoryLockProvider } from "../../../../src/infrastructure/locking/memory/memory-lock-provider";
import { Gate, settled } from "../../../support/fakes/gate";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";

/** More microtasks than lie between asking for a lock and the end of a section that awaits nothing. */
const MICROTASKS = 12;

async function microtasks(count: number): Promise<void> {
  for (let passed = 0; passed < count; passed += 1) await Promise.resolve();
}

/** A clock that is never read twice with the same answer: a line is forgotten as soon as that is possible. */
function restless(): VirtualLockClock {
  const clock = new VirtualLockClock();
  const { monotonicMs } = clock;
  clock.monotonicMs = () => (clock.stall(1), monotonicMs.call(clock));
  const { wallMs } = clock;
  clock.wallMs = () => (clock.stall(1), wallMs.call(clock));
  return clock;
}

/**
 * What three callers of one id lived through: how often one came in while another was inside, and who was served when.
 * A caller of another id comes and goes all the while, so that whatever may be forgotten is forgotten.
 */
async function play(locks: LockProvider, sectionTicks: number, arrivals: readonly number[]) {
  let inside = 0;
  let overlaps = 0;
  const asked: number[] = [];
  const served: number[] = [];
  let isOver = false;
  const bystander = (async () => {
    while (!isOver) await locks.withLock("another", async () => {});
  })();
  await Promise.all(
    arrivals.map(async (arrival, caller) => {
      await microtasks(arrival);
      asked.push(caller);
      await locks.withLock("one", async () => {
        served.push(caller);
        inside += 1;
        if (inside > 1) overlaps += 1;
        await microtasks(sectionTicks);
        inside -= 1;
      });
    }),
  );
  isOver = true;
  await bystander;
  return { overlaps, inOrder: served.join() === asked.join() };
}

/** Every length of the section with every arrival of the second and the third caller during the first one's stay. */
async function throughAllInterleavings(
  open: () => LockProvider,
  until: "the end" | "an overlap" = "the end",
) {
  const found = { schedules: 0, overlaps: 0, disorders: 0 };
  for (let sectionTicks = 0; sectionTicks < MICROTASKS; sectionTicks += 1)
    for (let second = 0; second < MICROTASKS * 2; second += 1)
      for (let third = second; third < MICROTASKS * 2; third += 1) {
        const { overlaps, inOrder } = await play(open(), sectionTicks, [0, second, third]);
        found.schedules += 1;
        if (overlaps > 0) found.overlaps += 1;
        if (found.overlaps > 0 && until === "an overlap") return found;
        if (!inOrder) found.disorders += 1;
      }
  return found;
}

/** Forgets lines as soon as that is possible. */
function opened(): MemoryLockProvider {
  const locks = new MemoryLockProvider({ clock: restless() });
  (locks as unknown as Inside).lines.fewResting = 0;
  return locks;
}

/** The two phases of the lock, which nothing outside of these tests takes apart. */
interface Inside {
  lines: {
    fewResting: number;
    reachFront(line: unknown, wait: unknown): Promise<unknown>;
    of(id: string): { mutex: Semaphore };
  };
}

describe("in memory, over all interleavings of microtasks", () => {
  it("callers are inside one at a time, in the order in which they asked", async () => {
    const found = await throughAllInterleavings(opened);
    expect(found).toEqual({ schedules: 3_600, overlaps: 0, disorders: 0 });
  });

  it("an await between the two phases is found", async () => {
    const { overlaps } = await throughAllInterleavings(() => {
      const locks = opened();
      const { lines } = locks as unknown as Inside;
      const reachFront = lines.reachFront.bind(lines);
      lines.reachFront = async (line, wait) => {
        await Promise.resolve();
        return reachFront(line, wait);
      };
      return locks;
    }, "an overlap");
    expect(overlaps).toBeGreaterThan(0);
  });

  it("a mutex that lets everyone in is found", async () => {
    const { overlaps } = await throughAllInterleavings(() => {
      const locks = opened();
      const { lines } = locks as unknown as Inside;
      const of = lines.of.bind(lines);
      lines.of = (id) => {
        const line = of(id);
        line.mutex = new Semaphore(3);
        return line;
      };
      return locks;
    }, "an overlap");
    expect(overlaps).toBeGreaterThan(0);
  });
});

describe("in memory, the mutex of async-mutex is what excludes", () => {
  afterEach(() => jest.restoreAllMocks());

  it("a section begins when the mutex has been acquired, and not before", async () => {
    const gate = new Gate();
    const { acquire } = Semaphore.prototype;
    jest.spyOn(Semaphore.prototype, "acquire").mockImplementation(async function (this: Semaphore) {
      const turn = await acquire.call(this);
      await gate.passed;
      return turn;
    });
    let began = false;
    const done = new MemoryLockProvider().withLock("a", async () => void (began = true));
    await settled();
    expect(began).toBe(false);
    gate.open();
    await done;
    expect(began).toBe(true);
  });

  it("the next caller goes in when the mutex has been released, and not before", async () => {
    const release = jest.spyOn(Semaphore.prototype, "release").mockImplementation(() => {});
    const locks = new MemoryLockProvider();
    let began = false;
    await locks.withLock("a", async () => {});
    void locks.withLock("a", async () => void (began = true), { timeout: "infinite" });
    await settled();
    expect(release).toHaveBeenCalledTimes(1);
    expect(began).toBe(false);
  });

  it("each caller acquires it once and releases it once, whatever becomes of the section or the wait", async () => {
    const acquire = jest.spyOn(Semaphore.prototype, "acquire");
    const release = jest.spyOn(Semaphore.prototype, "release");
    const locks = new MemoryLockProvider();
    const stop = new AbortController();
    const gate = new Gate();
    const all = [
      locks.withLock("a", () => gate.passed),
      locks.withLock("a", () => Promise.reject(new Error("the section's own"))),
      locks.withLock("a", async () => {}, { signal: stop.signal }),
      locks.withLock("a", async () => {}),
    ];
    stop.abort();
    gate.open();
    await Promise.allSettled(all);
    // Who gave up while waiting never asked the mutex.
    expect(acquire).toHaveBeenCalledTimes(3);
    expect(release).toHaveBeenCalledTimes(3);
    expect(locks.size).toBe(0);
  });
});

describe("in memory, fencing tokens", () => {
  const ids = Array.from({ length: 5_000 }, (_, n) => `payment:${n}`);
  const tokens = async (locks: LockProvider): Promise<readonly bigint[]> => {
    const all: bigint[] = [];
    for (const id of ids) all.push(await locks.withLock(id, async ({ fencingToken }) => fencingToken));
    return all;
  };

  it("of each id are greater after a restart, however many other ids were locked before it", async () => {
    const clock = new VirtualLockClock();
    const before = await tokens(new MemoryLockProvider({ clock }));
    await clock.advance(2);
    const after = await tokens(new MemoryLockProvider({ clock }));
    expect(after.every((token, n) => token > before[n]!)).toBe(true);
  });

  it("grow within one millisecond, and with a clock that was set back", async () => {
    const clock = new VirtualLockClock();
    const locks = new MemoryLockProvider({ clock });
    const first = await tokens(locks);
    const second = await tokens(locks);
    clock.stall(-3_600_000);
    const third = await tokens(locks);
    expect(second.every((token, n) => token > first[n]!)).toBe(true);
    expect(third.every((token, n) => token > second[n]!)).toBe(true);
  });

  it("keep few lines, however long the clock stands still", async () => {
    const clock = new VirtualLockClock();
    const locks = new MemoryLockProvider({ clock });
    for (let n = 0; n < 50_000; n += 1) await locks.withLock(`payment:${n}`, async () => {});
    const { lines } = locks as unknown as { lines: { byId: Map<string, unknown> } };
    expect(lines.byId.size).toBeLessThan(20_000);
    expect(locks.size).toBe(0);
    await clock.advance(60_000);
    await locks.withLock("last", async () => {});
    expect(lines.byId.size).toBe(1);
  });
});
