import pino from "pino";
import { Registry } from "prom-client";
import type { LockEvent } from "../../../src/application/ports/lock-observer";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { LinedLockProvider } from "../../../src/infrastructure/locking/line/lined-lock-provider";
import { lockLog } from "../../../src/infrastructure/telemetry/lock-log";
import { lockMetrics } from "../../../src/infrastructure/telemetry/lock-metrics";
import { lockObservers } from "../../../src/infrastructure/telemetry/lock-observers";
import { FakeLockServer } from "../../support/fakes/fake-lock-backend";
import { Gate, settled } from "../../support/fakes/gate";
import { VirtualLockClock } from "../../support/fakes/virtual-lock-clock";

describe("lock metrics", () => {
  /** Samples that are not 0, without the buckets. */
  async function samples(registry: Registry): Promise<string[]> {
    const text = await registry.metrics();
    return text.split("\n").filter((line) => !/^#|_bucket|^$| 0$/.test(line));
  }

  it("count waits, holds, contention, timeouts and cancellations by adapter and scope", async () => {
    const registry = new Registry();
    const clock = new VirtualLockClock();
    const locks = new MemoryLockProvider({ clock, observer: lockMetrics(registry) });
    const gate = new Gate();
    const stop = new AbortController();
    const holder = locks.withLock("a", () => gate.passed, { scope: "payment" });
    await settled();
    const served = locks.withLock("a", async () => 1, { scope: "payment" });
    const late = locks.withLock("a", async () => 1, { scope: "task" });
    const cancelled = locks.withLock("a", async () => 1, { signal: stop.signal });
    const failures = Promise.allSettled([late, cancelled]);
    await clock.advance(2_000);
    stop.abort();
    gate.open();
    await Promise.all([holder, served, failures]);
    expect(await samples(registry)).toEqual([
      'holdfast_lock_wait_seconds_sum{adapter="memory",scope="payment"} 2',
      'holdfast_lock_wait_seconds_count{adapter="memory",scope="payment"} 2',
      'holdfast_lock_hold_seconds_sum{adapter="memory",scope="payment"} 2',
      'holdfast_lock_hold_seconds_count{adapter="memory",scope="payment"} 2',
      'holdfast_lock_contended_total{adapter="memory",scope="task"} 1',
      'holdfast_lock_contended_total{adapter="memory",scope="payment"} 1',
      'holdfast_lock_timeouts_total{adapter="memory",scope="task"} 1',
      'holdfast_lock_cancellations_total{adapter="memory",scope="none"} 1',
    ]);
  });

  it("count locks that were lost and backends that did not answer", async () => {
    const registry = new Registry();
    const server = new FakeLockServer();
    const backend = server.backend();
    const locks = new LinedLockProvider(backend, { observer: lockMetrics(registry) });
    await locks.withLock("a", async () => server.expire("a"));
    backend.beforeAttempt = () => Promise.reject(new Error("down"));
    await expect(locks.withLock("a", async () => 1, { timeout: 0 })).rejects.toThrow("down");
    expect(await samples(registry)).toEqual(
      expect.arrayContaining([
        'holdfast_lock_unavailable_total{adapter="fake",scope="none"} 1',
        'holdfast_lock_lost_total{adapter="fake",scope="none"} 1',
      ]),
    );
    await locks.close();
  });
});

describe("the lock log", () => {
  it("the lock log writes one structured line per event, the loss of a lock as a warning", async () => {
    const lines: Record<string, unknown>[] = [];
    const write = (line: string): void => void lines.push(JSON.parse(line));
    const logger = pino({ level: "debug", base: null, timestamp: false }, { write });
    const server = new FakeLockServer();
    const locks = new LinedLockProvider(server.backend(), { observer: lockLog(logger) });
    await locks.withLock("payment:1", async () => server.expire("payment:1", "the lease ended"), {
      scope: "payment",
      purpose: "capture",
    });
    await locks.close();
    const facts = { resourceId: "payment:1", adapter: "fake", scope: "payment", purpose: "capture" };
    expect(lines).toMatchObject([
      { level: 20, event: "acquired", fencingToken: "1", contended: false, msg: "lock acquired", ...facts },
      { level: 40, event: "lost", reason: "the lease ended", msg: "lock lost", ...facts },
      { level: 20, event: "released", ...facts },
    ]);
  });
});

describe("several lock observers", () => {
  it("all hear of each event, whatever one of them throws", () => {
    const heard: LockEvent[] = [];
    const throwing = {
      notify: () => {
        throw new Error("the observer's own");
      },
    };
    const event: LockEvent = { type: "cancelled", resourceId: "a", adapter: "fake", elapsedMs: 1 };
    lockObservers(throwing, { notify: (each) => heard.push(each) }).notify(event);
    expect(heard).toEqual([event]);
  });
});
