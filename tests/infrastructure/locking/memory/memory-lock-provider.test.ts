import { AsyncLocalStorage } from "node:async_hooks";
import { getEventListeners } from "node:events";
import {
  LockCancelledError,
  LockLostError,
  LockReentrancyError,
  LockTimeoutError,
} from "../../../../src/application/ports/lock-errors";
import type { LockEvent } from "../../../../src/application/ports/lock-observer";
import type { LockHold, LockOptions } from "../../../../src/application/ports/lock-provider";
import type { Hold } from "../../../../src/infrastructure/locking/hold/lend";
import { builtInLockTimeouts } from "../../../../src/application/ports/lock-timeout";
import { MemoryLockProvider } from "../../../../src/infrastructure/locking/memory/memory-lock-provider";
import { detached } from "../../../../src/infrastructure/locking/hold/reentrancy";
import { Gate, settled } from "../../../support/fakes/gate";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";

describe("MemoryLockProvider", () => {
  let clock: VirtualLockClock;
  let locks: MemoryLockProvider;

  beforeEach(() => {
    clock = new VirtualLockClock();
    locks = new MemoryLockProvider({ clock });
  });

  afterEach(async () => {
    await settled();
    expect(locks.size).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  /** Occupies the id until the gate opens. */
  function occupy(id: string, purpose = "capture"): { gate: Gate; done: Promise<void> } {
    const gate = new Gate();
    return { gate, done: locks.withLock(id, () => gate.passed, { purpose }) };
  }

  it("MemoryLockProvider serves callers of one id in the order in which they came", async () => {
    const { gate, done } = occupy("a");
    const served: number[] = [];
    const waiting = [0, 1, 2, 3, 4].map((n) => locks.withLock("a", async () => void served.push(n)));
    gate.open();
    await Promise.all([done, ...waiting]);
    expect(served).toEqual([0, 1, 2, 3, 4]);
  });

  it("MemoryLockProvider lets a caller who gives up in the middle of the line go without disturbing the others", async () => {
    const { gate, done } = occupy("a");
    const stop = new AbortController();
    const served: string[] = [];
    const first = locks.withLock("a", async () => void served.push("first"));
    const second = locks.withLock("a", async () => void served.push("second"), { signal: stop.signal });
    const third = locks.withLock("a", async () => void served.push("third"));
    stop.abort();
    await expect(second).rejects.toBeInstanceOf(LockCancelledError);
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
    gate.open();
    await Promise.all([done, first, third]);
    expect(served).toEqual(["first", "third"]);
  });

  it("MemoryLockProvider says at the deadline who is inside, since when, how long the wait was and where the limit comes from", async () => {
    const { gate, done } = occupy("payment:1");
    await settled();
    const late = locks.withLock("payment:1", async () => "never", { scope: "payment" });
    const failure = expect(late).rejects.toThrow(
      'waited 10 s for payment:1, held by another caller (capture) since 2026-11-18T00:00:00.000Z; the limit of 10 s comes from built-in default of scope "payment"',
    );
    await clock.advance(9_999);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1);
    await failure;
    gate.open();
    await done;
  });

  it("MemoryLockProvider refuses a single attempt at once while somebody is inside, and even while somebody is only about to be", async () => {
    const { gate, done } = occupy("a");
    await expect(locks.withLock("a", async () => 1, { timeout: 0 })).rejects.toThrow("a is locked");
    await settled();
    await expect(locks.withLock("a", async () => 1, { timeout: 0 })).rejects.toBeInstanceOf(LockTimeoutError);
    gate.open();
    await done;
    await expect(locks.withLock("a", async () => 1, { timeout: 0 })).resolves.toBe(1);
  });

  it("MemoryLockProvider does not begin a section for a caller cancelled between its turn and its section", async () => {
    const stop = new AbortController();
    const gate = new Gate();
    // Told of in the same run to completion that hands the lock on.
    const observer = { notify: ({ type }: LockEvent) => void (type === "released" && stop.abort()) };
    const done = locks.withLock("a", () => gate.passed, { observer });
    let began = false;
    const cancelled = locks.withLock("a", async () => void (began = true), { signal: stop.signal });
    const next = locks.withLock("a", async () => "next");
    gate.open();
    await done;
    await expect(cancelled).rejects.toBeInstanceOf(LockCancelledError);
    expect(began).toBe(false);
    await expect(next).resolves.toBe("next");
  });

  it("MemoryLockProvider tells a caller what it waited for, and how long", async () => {
    const { gate, done } = occupy("a", "refund");
    await settled();
    const seen = locks.withLock("a", async (hold) => hold);
    await clock.advance(250);
    gate.open();
    await done;
    await expect(seen).resolves.toMatchObject({
      waitedMs: 250,
      waitedFor: { purpose: "refund", since: new Date(Date.UTC(2026, 10, 18)) },
    });
  });

  it("MemoryLockProvider refuses to be taken again from inside, whatever the id, and only until the section has ended", async () => {
    let detached: Promise<string> | undefined;
    const ended = new Gate();
    await locks.withLock("a", async () => {
      await expect(locks.withLock("b", async () => 1)).rejects.toThrow(LockReentrancyError);
      await expect(locks.withLock("a", async () => 1)).rejects.toThrow("cannot take a while inside a");
      detached = ended.passed.then(() => locks.withLock("a", async () => "later"));
    });
    ended.open();
    await expect(detached).resolves.toBe("later");
  });

  it("drags no chain of ended holds along when work that outlives its section locks again and again", async () => {
    let last: LockHold | undefined;
    const lockAgain = async (times: number): Promise<void> => {
      const ended = new Gate();
      let leftBehind: Promise<void> | undefined;
      await locks.withLock("a", async (hold) => {
        last = hold;
        leftBehind = ended.passed.then(() => (times > 0 ? lockAgain(times - 1) : undefined));
      });
      ended.open();
      await leftBehind;
    };
    await lockAgain(3);
    expect((last as Hold).outer).toBeUndefined();
  });

  it("MemoryLockProvider lets another provider be taken from inside", async () => {
    const others = new MemoryLockProvider();
    await expect(locks.withLock("a", () => others.withLock("a", async () => 1))).resolves.toBe(1);
  });

  it("MemoryLockProvider answers assertHeld by whether the section is still running", async () => {
    let kept: LockHold | undefined;
    await locks.withLock("a", async (hold) => {
      hold.assertHeld();
      expect(hold.signal.aborted).toBe(false);
      kept = hold;
    });
    expect(() => kept?.assertHeld()).toThrow(LockLostError);
    expect(() => kept?.assertHeld()).toThrow("the section has ended");
  });

  it("numbers acquisitions upwards, from the clock on", async () => {
    const token = () => locks.withLock("a", async (hold) => hold.fencingToken);
    const first = await token();
    expect(first).toBeGreaterThan(BigInt(Date.UTC(2026, 10, 18)));
    expect(await token()).toBe(first + 1n);
    await clock.advance(5_000);
    expect(await token()).toBe(BigInt(Date.UTC(2026, 10, 18) + 5_001));
  });

  it("MemoryLockProvider reports each step of a wait and of a hold, at most one progress a second, and survives an observer that throws", async () => {
    const heard: LockEvent[] = [];
    const observer = {
      notify: (event: LockEvent) => {
        heard.push(event);
        throw new Error("observer");
      },
    };
    const { gate, done } = occupy("a");
    await settled();
    const waited = locks.withLock("a", async () => 1, { observer, timeout: 5_000, purpose: "refund" });
    await clock.advance(2_500);
    gate.open();
    await Promise.all([done, waited]);
    const short = heard.map(({ type, elapsedMs, remainingMs, holder }) => [
      type,
      elapsedMs,
      remainingMs,
      holder?.purpose,
    ]);
    expect(short).toEqual([
      ["wait_started", 0, 5_000, "capture"],
      ["progressed", 1_000, 4_000, "capture"],
      ["progressed", 2_000, 3_000, "capture"],
      ["acquired", 2_500, undefined, undefined],
      ["released", 0, undefined, undefined],
    ]);
  });

  it("MemoryLockProvider lets work begun with detached lock while the section that began it goes on", async () => {
    const jobs = new Gate();
    await locks.withLock("a", async () => {
      // A worker that is started by whoever needs it first, and serves others from then on.
      const worker = detached(async () => {
        await jobs.passed;
        return locks.withLock("b", async () => "served");
      });
      const inherited = jobs.passed.then(() => locks.withLock("c", async () => "never"));
      jobs.open();
      await expect(worker).resolves.toBe("served");
      await expect(inherited).rejects.toThrow("begin it with detached");
    });
  });

  it("MemoryLockProvider refuses nonsense from a timeout policy, and names where it came from", async () => {
    for (const timeout of [-1, Number.NaN, Infinity, undefined as unknown as number]) {
      const odd = new MemoryLockProvider({ clock, timeouts: () => ({ timeout, source: "a policy" }) });
      const gate = new Gate();
      const done = odd.withLock("a", () => gate.passed);
      await expect(odd.withLock("a", async () => 1)).rejects.toThrow(/a policy gave/);
      gate.open();
      await done;
      expect(odd.size).toBe(0);
    }
  });

  it("MemoryLockProvider heeds a signal that comes with no other option, on a lock that is free", async () => {
    const locks = new MemoryLockProvider();
    let began = false;
    const enter = (signal: AbortSignal): Promise<void> =>
      locks.withLock("a", () => void (began = true), { signal });
    await expect(enter(AbortSignal.abort())).rejects.toBeInstanceOf(LockCancelledError);
    const stop = new AbortController();
    const asked = enter(stop.signal);
    stop.abort();
    await expect(asked).rejects.toBeInstanceOf(LockCancelledError);
    expect({ began, size: locks.size }).toEqual({ began: false, size: 0 });
  });

  it("MemoryLockProvider gives a scope of the caller's own the general limit, whatever it is called", () => {
    for (const scope of ["report", "toString", ""])
      expect(builtInLockTimeouts(scope)).toEqual(builtInLockTimeouts(undefined));
    expect(builtInLockTimeouts("task")).toEqual({ timeout: 0, source: 'built-in default of scope "task"' });
  });

  it("MemoryLockProvider tells a caller who waited by default how to wait longer in code", async () => {
    const locks = new MemoryLockProvider();
    await locks.withLock("a", async () => {
      const refused = detached(() => locks.withLock("a", () => 1, { scope: "task" }));
      await expect(refused).rejects.toThrow(
        /comes from built-in default of scope "task"; pass `timeout` to wait longer$/,
      );
    });
  });

  it("MemoryLockProvider reports the end of a wait in the async context of the caller whose wait it was", async () => {
    const callers = new AsyncLocalStorage<string>();
    const heard: string[] = [];
    const observer = {
      notify: ({ type }: LockEvent) => {
        if (type === "timed_out" || type === "cancelled") heard.push(`${type} for ${callers.getStore()}`);
      },
    };
    const { gate, done } = occupy("a");
    const stop = new AbortController();
    const wait = (name: string, options: LockOptions) =>
      callers.run(name, () => locks.withLock("a", async () => 1, { observer, ...options }));
    // The deadlines of the first two are on one timer, and the last two hang on one signal.
    const waits = [
      wait("first", { timeout: 1_000 }),
      wait("second", { timeout: 1_000 }),
      wait("third", { signal: stop.signal }),
      wait("fourth", { signal: stop.signal }),
    ];
    const all = Promise.allSettled(waits);
    await settled();
    await clock.advance(1_000);
    callers.run("whoever cancels", () => stop.abort());
    await all;
    expect(heard).toEqual([
      "timed_out for first",
      "timed_out for second",
      "cancelled for third",
      "cancelled for fourth",
    ]);
    gate.open();
    await done;
  });

  it("MemoryLockProvider refuses nonsense as a timeout", async () => {
    for (const timeout of [-1, Number.NaN, Infinity, "soon" as "infinite"])
      await expect(locks.withLock("a", async () => 1, { timeout })).rejects.toThrow(RangeError);
  });
});
