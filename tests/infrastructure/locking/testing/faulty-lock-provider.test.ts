import {
  acquireLock,
  lead,
  LockLostError,
  tryWithLock,
  withLocks,
  type LockHold,
} from "../../../../src/locks";
import { FaultyLockProvider, VirtualLockClock } from "../../../../src/lock-testing";

let locks: FaultyLockProvider;
beforeEach(() => (locks = new FaultyLockProvider()));
afterEach(() => locks.close());

const nothing = (): void => {};
const mustNotRun = (): never => {
  throw new Error("the section ran");
};

test("an acquisition that is to time out does so at once, with the limit it had and the holder that is ordered", async () => {
  locks.order("a", { fault: "times out", holder: { host: "web-2", pid: 7 } });
  await expect(locks.withLock("a", mustNotRun, { timeout: 60_000, scope: "report" })).rejects.toMatchObject({
    code: "lock_timeout",
    holder: { host: "web-2", pid: 7 },
    wait: { waitedMs: 60_000, limit: { timeout: 60_000, source: "the caller" }, scope: "report" },
  });
  locks.order("a", { fault: "times out" });
  await expect(locks.withLock("a", mustNotRun, { timeout: "infinite" })).rejects.toMatchObject({
    waitedMs: 0,
  });
  expect(await locks.withLock("a", () => "in")).toBe("in");
});

test("an acquisition that is to be unavailable says so, with what was ordered", async () => {
  locks.order("a", { fault: "is unavailable" });
  locks.order("a", { fault: "is unavailable", permanent: true, reason: "no such bucket" });
  await expect(locks.withLock("a", mustNotRun)).rejects.toMatchObject({
    code: "lock_unavailable",
    permanent: false,
    reason: "ordered by the test",
    wait: { limit: { source: "built-in default" } },
  });
  await expect(locks.withLock("a", mustNotRun)).rejects.toMatchObject({
    permanent: true,
    reason: "no such bucket",
  });
  expect(await locks.withLock("a", () => "in")).toBe("in");
});

test("an order is for one id and one acquisition, and orders are taken in turn", async () => {
  locks.order("a", { fault: "fails to release" });
  locks.order("b", { fault: "times out" });
  expect(await locks.withLock("a", () => "in")).toBe("in");
  await expect(locks.withLock("b", mustNotRun)).rejects.toMatchObject({ code: "lock_timeout" });
  expect(await locks.withLock("b", () => "in")).toBe("in");
});

test("an acquisition that is delayed holds up the line until then, and its callers' limits and signals go on", async () => {
  let answer!: () => void;
  locks.order("a", { fault: "is delayed", until: new Promise<void>((resolve) => (answer = resolve)) });
  const impatient = locks.withLock("a", mustNotRun, { timeout: 20 });
  const cancelling = new AbortController();
  const cancelled = locks.withLock("a", mustNotRun, { signal: cancelling.signal });
  const patient = locks.withLock("a", () => "in");
  await expect(impatient).rejects.toMatchObject({ code: "lock_unavailable" });
  cancelling.abort();
  await expect(cancelled).rejects.toMatchObject({ code: "wait_cancelled" });
  answer();
  expect(await patient).toBe("in");
});

test("a lock that is lost is told by the signal and by assertHeld, and the section's outcome stands", async () => {
  const outcome = await locks.withLock("a", (hold) => {
    hold.assertHeld();
    expect(hold.aloneForMs()).toBe(Infinity);
    locks.lose("a", "its lease ran out");
    expect(hold.signal.reason).toBe("its lease ran out");
    expect(hold.aloneForMs()).toBe(0);
    expect(() => hold.assertHeld()).toThrow(LockLostError);
    return "written";
  });
  expect(outcome).toBe("written");
  expect(await locks.withLock("a", ({ signal }) => signal.aborted)).toBe(false);
});

test("where nobody is inside, there is nothing to lose, and the test is told", async () => {
  expect(() => locks.lose("a")).toThrow("nobody holds a: there is nothing to lose");
  await locks.withLock("a", nothing);
  expect(() => locks.lose("a")).toThrow();
});

test("a lock whose release fails stays locked until it is lost; its section's outcome stands", async () => {
  locks.order("a", { fault: "fails to release" });
  expect(await locks.withLock("a", () => "done", { release: "await" })).toBe("done");
  await expect(locks.withLock("a", mustNotRun, { timeout: 20 })).rejects.toMatchObject({
    code: "lock_timeout",
  });
  locks.lose("a");
  expect(await locks.withLock("a", () => "in", { timeout: 0 })).toBe("in");
});

test("what is built on withLock meets the same faults", async () => {
  locks.order("a", { fault: "times out" });
  expect(await tryWithLock(locks, "a", () => "ran")).toBeNull();
  locks.order("b", { fault: "is unavailable" });
  await expect(withLocks(locks, ["a", "b"], mustNotRun)).rejects.toMatchObject({ resourceId: "b" });
  const held = await acquireLock(locks, "a");
  locks.lose("a");
  expect(held.signal.aborted).toBe(true);
  await held.release();
  const stop = new AbortController();
  let led = 0;
  const done = lead(
    locks,
    "leader",
    async ({ signal }) => {
      led += 1;
      locks.lose("leader");
      expect(signal.aborted).toBe(true);
      stop.abort();
    },
    { signal: stop.signal },
  );
  await done;
  expect(led).toBe(1);
});

test("with permits, what is ordered for the id happens to whichever slot is had", async () => {
  const permits = 2;
  const first = new AbortController();
  await new Promise<void>((inside) => {
    const section = ({ signal }: LockHold): Promise<void> =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(first.abort(signal.reason)));
        inside();
      });
    void locks.withLock("a", section, { permits });
  });
  locks.order("a", { fault: "fails to release" });
  await locks.withLock("a", () => "in", { permits, release: "await" });
  await expect(locks.withLock("a", () => "in", { permits, timeout: 0 })).rejects.toMatchObject({
    code: "lock_timeout",
  });
  locks.lose("a", "taken");
  expect(first.signal.reason).toBe("taken");
  locks.order("a", { fault: "times out" });
  await expect(locks.withLock("a", () => "in", { permits })).rejects.toMatchObject({ code: "lock_timeout" });
  locks.lose("a");
  expect(await locks.withLock("a", () => "in", { permits: 3, timeout: 1_000 })).toBe("in");
});

test("limits go by a clock that is given along", async () => {
  const clock = new VirtualLockClock();
  const virtual = new FaultyLockProvider({ clock });
  const never = new Promise<void>(() => {});
  virtual.order("a", { fault: "is delayed", until: never });
  const refused = expect(virtual.withLock("a", mustNotRun, { timeout: 60_000 })).rejects.toMatchObject({
    code: "lock_unavailable",
  });
  await clock.advance(60_000);
  await refused;
});

test("a provider that fails on order is closed although it waits for what never happens", async () => {
  const locks = new FaultyLockProvider();
  locks.order("a", { fault: "is delayed", until: new Promise(() => {}) });
  await expect(locks.withLock("a", () => undefined, { timeout: 20 })).rejects.toMatchObject({
    code: "lock_unavailable",
  });
  await locks.close();
});

test("a provider that fails on order refuses an order that it does not know", () => {
  const locks = new FaultyLockProvider();
  expect(() => locks.order("a", { fault: "explodes" as never })).toThrow('there is no fault "explodes"');
});
