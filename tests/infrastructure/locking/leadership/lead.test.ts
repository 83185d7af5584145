import type { LockOptions, LockProvider } from "../../../../src/application/ports/lock-provider";
import { lead, type LeadOptions } from "../../../../src/infrastructure/locking/leadership/lead";
import type { Leadership } from "../../../../src/infrastructure/locking/leadership/leadership";
import { LeaseLockProvider } from "../../../../src/infrastructure/locking/lease/lease-lock-provider";
import { TransientLeaseStoreError } from "../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import type { MemoryLeaseRecordStore } from "../../../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import { MemoryLockProvider } from "../../../../src/infrastructure/locking/memory/memory-lock-provider";
import { VirtualLeases } from "../../../../src/lock-testing";

const ID = "leader:reports";
const ENDING_MS = 5_000;

/** Resolves when the leader has to end. */
const told = ({ signal }: Leadership): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

describe("lead", () => {
  let leases: VirtualLeases;
  let log: string[];
  let stop: AbortController;
  beforeEach(() => {
    leases = new VirtualLeases();
    log = [];
    stop = new AbortController();
  });
  afterEach(async () => {
    stop.abort();
    await leases.clock.advance(120_000);
    await leases.close();
    expect(leases.clock.pendingTimers).toBe(0);
  });

  const stand = (name: string, more: LeadOptions = {}, locks = leases.process(name)): Promise<void> =>
    lead(
      locks,
      ID,
      async (leadership) => {
        log.push(`${name} begins`);
        await told(leadership);
        log.push(`${name}: ${String(leadership.signal.reason)}`);
      },
      { signal: stop.signal, clock: leases.clock, random: () => 0.5, ...more },
    );

  it("one of two candidates leads, and the other one as soon as it is stopped", async () => {
    const first = new AbortController();
    const leading = stand("one", { signal: first.signal });
    await leases.clock.advance(10);
    const waiting = stand("two");
    await leases.clock.advance(600_000);
    expect(log).toEqual(["one begins"]);
    first.abort();
    await leases.clock.advance(10_000);
    await leading;
    expect(log).toEqual(["one begins", "one: it was stopped", "two begins"]);
    stop.abort();
    await leases.clock.advance(10_000);
    await waiting;
  });

  it("a candidate that is stopped while it waits ends without having led", async () => {
    const leading = stand("one");
    await leases.clock.advance(10);
    const second = new AbortController();
    const waiting = stand("two", { signal: second.signal });
    await leases.clock.advance(5_000);
    second.abort();
    await leases.clock.advance(10_000);
    await waiting;
    expect(log).toEqual(["one begins"]);
    stop.abort();
    await leases.clock.advance(10_000);
    await leading;
  });

  it("a leader cut off from the store is told early enough to end before another begins, and stands again", async () => {
    const shared = leases.records;
    const cut = { off: false };
    // The same records, over a line that can be cut.
    const store = Object.create(shared) as MemoryLeaseRecordStore;
    const orCut = <T>(work: () => Promise<T>): Promise<T> =>
      cut.off ? Promise.reject(new TransientLeaseStoreError("cut off")) : work();
    store.read = (id) => orCut(() => shared.read(id));
    store.write = (id, record, ifVersion) => orCut(() => shared.write(id, record, ifVersion));
    const environment = { clock: leases.clock, random: () => 0.5, nonce: () => "one", host: "one", pid: 1 };
    let nonces = 0;
    const one = new LeaseLockProvider(store, {
      environment: { ...environment, nonce: () => `one${(nonces += 1)}` },
    });
    let toldMs = 0;
    let secondMs = 0;
    const leading = lead(
      one,
      ID,
      async (leadership) => {
        await told(leadership);
        toldMs ||= leases.clock.monotonicMs();
        // All that it was promised, and not a millisecond more.
        await new Promise<void>((resolve) => leases.clock.after(ENDING_MS - 1, resolve));
        if (secondMs === 0) leadership.assertHeld();
        log.push("one has ended");
      },
      { signal: stop.signal, clock: leases.clock, endingMs: ENDING_MS },
    );
    await leases.clock.advance(10);
    const second = new AbortController();
    const waiting = lead(
      leases.process("two"),
      ID,
      async (leadership) => {
        secondMs = leases.clock.monotonicMs();
        log.push("two begins");
        await told(leadership);
      },
      { signal: second.signal, clock: leases.clock },
    );
    await leases.clock.advance(30_000);
    cut.off = true;
    await leases.clock.advance(60_000);
    expect(log).toEqual(["one has ended", "two begins"]);
    expect(secondMs - toldMs).toBeGreaterThan(ENDING_MS);
    cut.off = false;
    second.abort();
    await leases.clock.advance(60_000);
    await waiting;
    stop.abort();
    await leases.clock.advance(60_000);
    await leading;
    expect(log).toEqual(["one has ended", "two begins", "one has ended"]);
    const closed = one.close();
    await leases.clock.advance(60_000);
    await closed;
  });

  it("a leader that stalls past its lease learns of it when it wakes up, and is elected again", async () => {
    const leading = stand("one");
    await leases.clock.advance(10);
    leases.clock.stall(60_000);
    await leases.clock.advance(120_000);
    expect(log).toEqual(["one begins", expect.stringMatching(/^one: the lock/), "one begins"]);
    stop.abort();
    await leases.clock.advance(10_000);
    await leading;
  });

  it.each([
    ["says no", () => false],
    ["throws", () => Promise.reject(new Error("down"))],
    ["does not answer", () => new Promise<boolean>(() => {})],
  ])("a leader whose health check %s steps down, and another one leads", async (_, answer) => {
    let isIll = false;
    const changes: string[] = [];
    const leading = stand("one", {
      isHealthy: () => (isIll ? answer() : true),
      onChange: (change) => {
        changes.push(change.is);
        throw new Error("the listener's own");
      },
    });
    await leases.clock.advance(10);
    const waiting = stand("two");
    await leases.clock.advance(20_000);
    isIll = true;
    await leases.clock.advance(20_000);
    expect(log).toEqual(["one begins", "one: the health check failed", "two begins"]);
    expect(changes.slice(0, 4)).toEqual(["elected", "stepping down", "over", "pausing"]);
    stop.abort();
    await leases.clock.advance(20_000);
    await Promise.all([leading, waiting]);
  });

  it("a candidate that has become ill while it waited does not begin, and lets the next one lead", async () => {
    const first = new AbortController();
    const leading = stand("one", { signal: first.signal });
    await leases.clock.advance(10);
    let isIll = false;
    const waiting = stand("two", { isHealthy: () => !isIll });
    await leases.clock.advance(10_000);
    isIll = true;
    const last = stand("three");
    await leases.clock.advance(10_000);
    first.abort();
    await leases.clock.advance(30_000);
    expect(log).toEqual(["one begins", "one: it was stopped", "three begins"]);
    stop.abort();
    await leases.clock.advance(30_000);
    await Promise.all([leading, waiting, last]);
  });

  it("a leader whose lock is taken away is told at its next renewal, and is elected again", async () => {
    const leading = stand("one");
    await leases.clock.advance(10);
    await leases.records.remove(ID, (await leases.records.read(ID))!.version);
    await leases.clock.advance(11_000);
    expect(log.slice(0, 2)).toEqual(["one begins", "one: the lock is lost: its record is gone"]);
    await leases.clock.advance(30_000);
    expect(log.slice(2)).toEqual(["one begins"]);
    stop.abort();
    await leases.clock.advance(10_000);
    await leading;
  });

  it("pauses between elections grow while leaderships are short, up to half a minute", async () => {
    const pauses: number[] = [];
    const leading = stand("one", {
      isHealthy: () => false,
      onChange: (change) => void (change.is === "pausing" && pauses.push(change.forMs)),
    });
    await leases.clock.advance(120_000);
    expect(pauses.slice(0, 7)).toEqual([750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500]);
    expect(log).toEqual([]);
    // An instance that is ill does not even stand: nothing was asked of the store.
    expect(await leases.records.read(ID)).toBeNull();
    stop.abort();
    await leases.clock.advance(0);
    await leading;
  });

  it("work that ends by itself ends the candidacy, and work that fails rejects with its own error", async () => {
    const locks = new MemoryLockProvider();
    await lead(locks, ID, () => undefined);
    const own = new Error("the work's own");
    await expect(lead(locks, ID, () => Promise.reject(own))).rejects.toBe(own);
    expect(locks.size).toBe(0);
  });

  it("work that is told to end may say so by an AbortError, and any other error is its own", async () => {
    const locks = new MemoryLockProvider();
    const own = new Error("the work's own");
    const endWith = async (error: Error): Promise<void> => {
      const stopped = new AbortController();
      await lead(
        locks,
        ID,
        () => {
          stopped.abort();
          throw error;
        },
        { signal: stopped.signal },
      );
    };
    await endWith(new DOMException("aborted", "AbortError"));
    await expect(endWith(own)).rejects.toBe(own);
    expect(locks.size).toBe(0);
  });

  it("the work of a leader may take other locks of the same provider", async () => {
    const locks = new MemoryLockProvider();
    let inside = 0;
    await lead(locks, ID, () => locks.withLock("another", () => void (inside += 1)));
    expect(inside).toBe(1);
  });

  it("a candidate asks for its lock with the scope, the purpose, the observer and the signal that it was given, and with no others", async () => {
    const memory = new MemoryLockProvider();
    const asked: (LockOptions | undefined)[] = [];
    const locks: LockProvider = {
      withLock: (id, section, options) => {
        asked.push(options);
        return memory.withLock(id, section, options);
      },
    };
    const { signal } = new AbortController();
    const given = { scope: "task", purpose: "reports", observer: { notify: () => {} }, signal } as const;
    await lead(locks, ID, () => {}, given);
    await lead(locks, ID, () => {});
    const always = { timeout: "infinite", release: "await" } as const;
    expect(asked).toEqual([{ ...given, ...always }, always]);
    expect(Object.keys(asked[1]!).sort()).toEqual(["release", "timeout"]);
  });

  it("a candidate whose last leadership was long comes back after the shortest pause", async () => {
    const pauses: number[] = [];
    let isIll = true;
    const leading = stand("one", {
      isHealthy: () => !isIll,
      onChange: (change) => void (change.is === "pausing" && pauses.push(change.forMs)),
    });
    await leases.clock.advance(10_000);
    const before = pauses.length;
    isIll = false;
    await leases.clock.advance(100_000);
    isIll = true;
    await leases.clock.advance(10_000);
    expect(log).toEqual(["one begins", expect.stringMatching(/^one: /)]);
    expect(pauses[before]).toBe(750);
    stop.abort();
    await leases.clock.advance(60_000);
    await leading;
  });

  it("times that are none are refused", async () => {
    const locks = new MemoryLockProvider();
    await expect(lead(locks, ID, () => {}, { endingMs: 0 })).rejects.toThrow(RangeError);
    await expect(lead(locks, ID, () => {}, { healthEveryMs: NaN })).rejects.toThrow(RangeError);
  });
});
