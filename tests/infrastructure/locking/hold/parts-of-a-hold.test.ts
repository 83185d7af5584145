import { getEventListeners } from "node:events";
import { LockLostError, LockUnavailableError } from "../../../../src/application/ports/lock-errors";
import type { LockEvent } from "../../../../src/application/ports/lock-observer";
import { announce, isObserved, wordsOf } from "../../../../src/infrastructure/locking/hold/announce";
import { lend, type Loan } from "../../../../src/infrastructure/locking/hold/lend";
import { Loss } from "../../../../src/infrastructure/locking/hold/loss";
import { keptFor } from "../../../../src/infrastructure/locking/hold/minimum-hold";
import {
  boundedCheck,
  watchHealth,
  watchSignal,
  watchTimeLeft,
} from "../../../../src/infrastructure/locking/leadership/watches";
import { Leadership } from "../../../../src/infrastructure/locking/leadership/leadership";
import { onAbort } from "../../../../src/infrastructure/locking/line/cancellation";
import { lockSettings } from "../../../../src/infrastructure/locking/lock-settings";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";
import { settled } from "../../../support/fakes/gate";

let clock: VirtualLockClock;
beforeEach(() => (clock = new VirtualLockClock()));

describe("a loss", () => {
  test("a loss has the first reason that was given, told also to whoever asks for its signal later", () => {
    const [early, late] = [new Loss(), new Loss()];
    const { signal } = early;
    expect([early.reason, signal.aborted]).toEqual([null, false]);
    for (const loss of [early, late]) {
      loss.declare("first");
      loss.declare("second");
      expect(loss.reason).toBe("first");
      expect([loss.signal.aborted, loss.signal.reason]).toEqual([true, "first"]);
    }
    expect(early.signal).toBe(signal);
    expect(signal.reason).toBe("first");
  });
});

describe("a lock that is kept for a while", () => {
  test("a lock that is kept for a while is kept until the time is over, and leaves nothing behind", async () => {
    const lost = new AbortController();
    let isOver = false;
    void keptFor(clock, 1_000, lost.signal).then(() => (isOver = true));
    await clock.advance(999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await settled();
    expect(isOver).toBe(true);
    expect(getEventListeners(lost.signal, "abort")).toHaveLength(0);
  });

  test("a lock that is lost has nothing left to keep, whether that is so before or comes meanwhile", async () => {
    const lost = new AbortController();
    const keeping = keptFor(clock, 1_000, lost.signal);
    expect(clock.pendingTimers).toBe(1);
    lost.abort();
    await keeping;
    expect(clock.pendingTimers).toBe(0);
    await keptFor(clock, 1_000, lost.signal);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("a hold", () => {
  const loan = (change: Partial<Loan> = {}): Loan => ({
    lender: {},
    resourceId: "a",
    fencingToken: 7,
    sinceMs: 1_000,
    purpose: undefined,
    wait: undefined,
    ...change,
  });

  test("a hold of a lock that ends with its process is never lost, until its section is over", () => {
    const hold = lend(loan());
    expect([hold.fencingToken, hold.waitedMs, hold.aloneForMs(), hold.signal.aborted]).toEqual([
      7n,
      0,
      Infinity,
      false,
    ]);
    expect(hold).not.toHaveProperty("slot");
    expect(hold).not.toHaveProperty("waitedFor");
    expect(hold.signal).toBe(hold.signal);
    hold.assertHeld();
    hold.observe(() => {})();
    hold.end();
    expect(hold.isActive).toBe(false);
    expect(() => hold.assertHeld()).toThrow(new LockLostError("a", "the section has ended"));
  });

  test("a hold tells those who wait what it is for and since when, and its section how it was got", () => {
    const waitedFor = { purpose: "other" };
    const hold = lend(loan({ slot: 3, purpose: "capture", wait: { waitedMs: 5, waitedFor } }));
    expect(hold.describe()).toEqual({ purpose: "capture", since: new Date(1_000) });
    expect(hold).toMatchObject({ slot: 3, waitedMs: 5, waitedFor });
    expect(lend(loan()).describe()).toEqual({ since: new Date(1_000) });
  });

  test("a hold tells of its tenure's end, and of what else becomes of it as long as the section lasts", () => {
    const lost = new AbortController();
    let tell: (happening: { type: "renewed" }) => void = () => {};
    const tenure = {
      lost: lost.signal,
      assertHeld: () => {
        throw new LockLostError("a", "gone");
      },
      aloneForMs: () => 9,
      observe: (told: typeof tell) => void (tell = told),
    } as unknown as NonNullable<Loan["tenure"]>;
    const hold = lend(loan({ tenure }));
    expect(hold.signal).toBe(lost.signal);
    expect(hold.aloneForMs()).toBe(9);
    expect(() => hold.assertHeld()).toThrow(new LockLostError("a", "gone"));
    const told: unknown[] = [];
    const stop = hold.observe((happening) => told.push(happening));
    tell({ type: "renewed" });
    hold.end();
    tell({ type: "renewed" });
    lost.abort("its end");
    expect(told).toEqual([{ type: "renewed" }, { type: "lost", reason: "its end" }]);
    const after: unknown[] = [];
    lend(loan({ tenure })).observe((happening) => after.push(happening));
    expect(after).toEqual([{ type: "lost", reason: "its end" }]);
    stop();
    const other = new AbortController();
    const listening = lend(loan({ tenure: { ...tenure, lost: other.signal } }));
    listening.observe(() => {})();
    expect(getEventListeners(other.signal, "abort")).toHaveLength(0);
  });
});

describe("observers", () => {
  test("observers of the provider and of the call are told the same, with what is known and no more", () => {
    const [all, own]: [LockEvent[], LockEvent[]] = [[], []];
    const observer = (into: LockEvent[]) => ({ notify: (event: LockEvent) => void into.push(event) });
    const settings = lockSettings("fake", { clock, observer: observer(all) });
    const options = { observer: observer(own), scope: "task", purpose: "p" } as const;
    const failure = new Error("no route");
    const now = { elapsedMs: 5, remainingMs: 6, holder: { ownerId: "o" }, failure };
    announce({ resourceId: "a", options, settings }, { type: "progressed" }, now);
    const event = {
      resourceId: "a",
      adapter: "fake",
      scope: "task",
      purpose: "p",
      elapsedMs: 5,
      remainingMs: 6,
      holder: { ownerId: "o" },
      failure: "no route",
      type: "progressed",
    };
    expect([all, own]).toEqual([[event], [event]]);
    announce({ resourceId: "a", options: {}, settings }, { type: "progressed" }, { elapsedMs: 0 });
    expect(Object.keys(all[1]!).sort()).toEqual(["adapter", "elapsedMs", "resourceId", "type"]);
    expect([isObserved({ options, settings }), isObserved({ options: {}, settings })]).toEqual([true, true]);
    const silent = lockSettings("fake", { clock });
    expect([
      isObserved({ options, settings: silent }),
      isObserved({ options: {}, settings: silent }),
    ]).toEqual([true, false]);
  });

  test("an observer that throws keeps neither the other one from hearing nor the lock from going on", () => {
    const heard: string[] = [];
    const failing = {
      notify: () => {
        throw new Error("its own");
      },
    };
    const settings = lockSettings("fake", { clock, observer: failing });
    const options = { observer: { notify: ({ type }: LockEvent) => void heard.push(type) } };
    announce({ resourceId: "a", options, settings }, { type: "cancelled" }, { elapsedMs: 0 });
    expect(heard).toEqual(["cancelled"]);
  });

  test("a failure is told in its own words, without the lock that it is told about", () => {
    expect(wordsOf(new LockUnavailableError("a", "the key is refused"))).toBe("the key is refused");
    expect([wordsOf(new Error("e")), wordsOf("text"), wordsOf(undefined)]).toEqual([
      "e",
      "text",
      "undefined",
    ]);
  });
});

describe("whoever listens to a signal", () => {
  test("whoever listens to a signal shares one listener with all others, and takes it along as the last one", () => {
    const stop = new AbortController();
    const count = (): number => getEventListeners(stop.signal, "abort").length;
    const called: string[] = [];
    const first = onAbort(stop.signal, () => called.push("first"));
    const second = onAbort(stop.signal, () => called.push("second"));
    expect(count()).toBe(1);
    first();
    first();
    expect(count()).toBe(1);
    second();
    expect(count()).toBe(0);
    const third = onAbort(stop.signal, () => called.push("third"));
    onAbort(stop.signal, () => called.push("fourth"));
    stop.abort();
    expect(called).toEqual(["third", "fourth"]);
    third();
    expect(count()).toBe(0);
  });
});

describe("what a leader is watched for", () => {
  const reasons = () => {
    const told: string[] = [];
    return { told, stepDown: (reason: string) => void told.push(reason) };
  };

  test("a signal is told with its reason, also where it has fired before, and not once it is watched no more", () => {
    const { told, stepDown } = reasons();
    const stop = new AbortController();
    const watch = watchSignal(stop.signal, (reason) => `because ${String(reason)}`);
    watch(stepDown)();
    watch(stepDown);
    stop.abort("so");
    watch(stepDown)();
    expect(told).toEqual(["because so", "because so"]);
  });

  test("the time that is left is looked at again when it would be over, and told once", async () => {
    const { told, stepDown } = reasons();
    let untilMs = clock.monotonicMs() + 10_000.5;
    const lock = { aloneForMs: () => untilMs - clock.monotonicMs() };
    const stop = watchTimeLeft(lock, 5_000, clock)(stepDown);
    await clock.advance(4_000);
    untilMs += 3_000;
    await clock.advance(4_000);
    expect(told).toEqual([]);
    await clock.advance(1);
    expect(told).toEqual(["the lock cannot be renewed, and may end in 5000 ms"]);
    stop();
    expect(clock.pendingTimers).toBe(0);
    watchTimeLeft({ aloneForMs: () => Infinity }, 5_000, clock)(stepDown)();
    const left = watchTimeLeft({ aloneForMs: () => 6_000 }, 5_000, clock)(stepDown);
    expect(clock.pendingTimers).toBe(1);
    left();
    expect(clock.pendingTimers).toBe(0);
    watchTimeLeft({ aloneForMs: () => 5_000 }, 5_000, clock)(stepDown);
    expect(told).toHaveLength(2);
  });

  test("health is asked about again and again, one question at a time, until the answer is no", async () => {
    const { told, stepDown } = reasons();
    const answers: ((healthy: boolean) => void)[] = [];
    const ask = () => new Promise<boolean>((resolve) => answers.push(resolve));
    const stop = watchHealth(ask, 1_000, clock)(stepDown);
    await clock.advance(999);
    expect(answers).toHaveLength(0);
    await clock.advance(5_000);
    expect(answers).toHaveLength(1);
    answers[0]!(true);
    await clock.advance(1_000);
    expect(answers).toHaveLength(2);
    answers[1]!(false);
    await settled();
    expect(told).toEqual(["the health check failed"]);
    await clock.advance(5_000);
    expect(answers).toHaveLength(2);
    stop();

    const stopped = watchHealth(ask, 1_000, clock)(stepDown);
    await clock.advance(1_000);
    stopped();
    answers[2]!(false);
    await settled();
    expect(told).toHaveLength(1);
    watchHealth(ask, 1_000, clock)(stepDown)();
    expect(clock.pendingTimers).toBe(0);
  });

  test("a check answers in time whatever it does, and where there is none all is well", async () => {
    const answer = async (check: Parameters<typeof boundedCheck>[0]) => {
      const asked = boundedCheck(check, 1_000, clock)();
      await clock.advance(1_000);
      return [await asked, clock.pendingTimers];
    };
    expect(await answer(undefined)).toEqual([true, 0]);
    expect(await answer(() => true)).toEqual([true, 0]);
    expect(await answer(() => Promise.resolve(false))).toEqual([false, 0]);
    expect(await answer(() => new Promise<boolean>(() => {}))).toEqual([false, 0]);
    const failing = () => {
      throw new Error("its own");
    };
    expect(await answer(failing)).toEqual([false, 0]);
    const quick = boundedCheck(() => true, 1_000, clock)();
    expect(await quick).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  test("the work of a leader sees its lock as it is, and a signal of its own that has the first reason", () => {
    const lock = {
      resourceId: "a",
      fencingToken: 7n,
      waitedMs: 5,
      waitedFor: { ownerId: "o" },
      signal: AbortSignal.abort("the lock's"),
      aloneForMs: () => 9,
      assertHeld: () => {
        throw new LockLostError("a", "gone");
      },
    } as unknown as ConstructorParameters<typeof Leadership>[0];
    const leadership = new Leadership(lock);
    expect(leadership).toMatchObject({
      resourceId: "a",
      fencingToken: 7n,
      waitedMs: 5,
      waitedFor: { ownerId: "o" },
    });
    expect(leadership.aloneForMs()).toBe(9);
    expect(() => leadership.assertHeld()).toThrow("gone");
    expect(leadership.signal.aborted).toBe(false);
    leadership.stepDown("first");
    leadership.stepDown("second");
    expect(leadership.signal.reason).toBe("first");
    const { waitedFor: _, ...plain } = lock;
    expect(new Leadership(plain as typeof lock)).not.toHaveProperty("waitedFor");
  });
});
