import { getEventListeners } from "node:events";
import { LockCancelledError } from "../../../src/application/ports/lock-errors";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { LinedLockProvider } from "../../../src/infrastructure/locking/line/lined-lock-provider";
import type { LockClock } from "../../../src/infrastructure/locking/lock-clock";
import { FakeLockServer } from "../../support/fakes/fake-lock-backend";
import { Gate, settled } from "../../support/fakes/gate";
import { size } from "../../support/test-size";

const CANCELLED = size(100_000, 5_000);
const SERVED = size(10_000, 1_000);

/** Real time, and a count of the timers that nobody has cancelled. */
class CountingClock implements LockClock {
  readonly pending = new Set<NodeJS.Timeout>();
  made = 0;
  monotonicMs = () => performance.now();
  wallMs = () => Date.now();
  after(delayMs: number, callback: () => void): () => void {
    this.made += 1;
    const timer = setTimeout(() => {
      this.pending.delete(timer);
      callback();
    }, delayMs);
    this.pending.add(timer);
    return () => {
      clearTimeout(timer);
      this.pending.delete(timer);
    };
  }
}

interface Subject {
  readonly locks: LockProvider & { readonly size: number };
  readonly clock: CountingClock;
  /** Everything that a backend could still be listening for or be registered for. */
  readonly leftAtBackend: () => number;
}

const inMemory = (): Subject => {
  const clock = new CountingClock();
  return { clock, locks: new MemoryLockProvider({ clock }), leftAtBackend: () => 0 };
};

const lined = (): Subject => {
  const clock = new CountingClock();
  const server = new FakeLockServer();
  return {
    clock,
    locks: new LinedLockProvider(server.backend(), { clock }),
    leftAtBackend: () => server.listeners.size + server.held.size + server.waiters.size,
  };
};

async function nothingIsLeft({ locks, clock, leftAtBackend }: Subject): Promise<void> {
  await settled();
  expect({ ids: locks.size, timers: clock.pending.size, leftAtBackend: leftAtBackend() }).toEqual({
    ids: 0,
    timers: 0,
    leftAtBackend: 0,
  });
}

describe.each([
  { name: "MemoryLockProvider", open: inMemory, ids: size(1_000_000, 20_000) },
  { name: "LinedLockProvider", open: lined, ids: size(50_000, 3_000) },
])("$name keeps nothing", ({ open, ids }) => {
  it(`of ${ids.toLocaleString("en")} ids`, async () => {
    const subject = open();
    const section = async (): Promise<void> => {};
    for (let first = 0; first < ids; first += 1_000) {
      const batch = Array.from({ length: 1_000 }, (_, n) => `payment:${first + n}`);
      await Promise.all(batch.map((id) => subject.locks.withLock(id, section)));
    }
    await nothingIsLeft(subject);
    // Nobody waited, and nobody outside was asked: that no timer was ever made is more than that none is left.
    if (subject.locks instanceof MemoryLockProvider) expect(subject.clock.made).toBe(0);
  }, 60_000);

  it(`of ${CANCELLED.toLocaleString("en")} cancelled waiters, nor on the signal that they shared`, async () => {
    const subject = open();
    const gate = new Gate();
    const stop = new AbortController();
    const holder = subject.locks.withLock("a", () => gate.passed);
    await settled();
    const outcomes = Array.from({ length: CANCELLED }, () =>
      subject.locks
        .withLock("a", async () => "never", { signal: stop.signal })
        .catch((error: unknown) => error instanceof LockCancelledError),
    );
    // All of them brought the same budget: one timer for the first to be due does for all.
    expect(subject.clock.pending.size).toBe(1);
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
    stop.abort();
    expect(new Set(await Promise.all(outcomes))).toEqual(new Set([true]));
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
    expect(subject.clock.pending.size).toBe(0);
    gate.open();
    await holder;
    await nothingIsLeft(subject);
  }, 60_000);

  it(`of ${SERVED.toLocaleString("en")} waiters on one id who are served`, async () => {
    const subject = open();
    const stop = new AbortController();
    let served = 0;
    const section = async (): Promise<void> => void (served += 1);
    const { signal } = stop;
    await Promise.all(Array.from({ length: SERVED }, () => subject.locks.withLock("a", section, { signal })));
    expect(served).toBe(SERVED);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    await nothingIsLeft(subject);
  }, 60_000);
});
