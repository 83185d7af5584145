import {
  LockPermitsError,
  LockTimeoutError,
  LockUnavailableError,
} from "../../../../src/application/ports/lock-errors";
import { LinedLockProvider } from "../../../../src/infrastructure/locking/line/lined-lock-provider";
import type { LockBackend } from "../../../../src/infrastructure/locking/lock-backend";
import { FakeLockServer, type FakeLockBackend } from "../../../support/fakes/fake-lock-backend";
import { Gate, settled } from "../../../support/fakes/gate";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";

let clock: VirtualLockClock;
let server: FakeLockServer;
let backend: FakeLockBackend;
let locks: LinedLockProvider;

beforeEach(() => {
  clock = new VirtualLockClock();
  server = new FakeLockServer();
  backend = server.backend();
  locks = new LinedLockProvider(backend, { clock, random: () => 0 });
});

afterEach(async () => {
  await settled();
  expect({ ids: locks.size, timers: clock.pendingTimers, listeners: server.listeners.size }).toEqual({
    ids: 0,
    timers: 0,
    listeners: 0,
  });
});

/** All slots have holders in another process; each can be told to leave. */
async function strangersInside(permits: number): Promise<readonly (() => Promise<void>)[]> {
  server.permits.set("a", permits);
  const stranger = server.backend("stranger");
  return Promise.all(
    Array.from({ length: permits }, async (_, n) => {
      const answer = await stranger.attempt(`a#${n + 1}`, { mayWait: false });
      if (answer.kind !== "acquired") throw new Error("not free");
      return () => answer.tenure.release();
    }),
  );
}

const ownSlots = (): string[] =>
  [...server.held].filter(([, { ownerId }]) => ownerId.startsWith("process-1:")).map(([id]) => id);

test("a caller who waits looks at all slots once, then at a few at a time, and seldom", async () => {
  backend.announcesReleases = false;
  const permits = 40;
  const leave = await strangersInside(permits);
  const waiting = locks
    .withLock("a", () => "in", { permits, timeout: 60_000 })
    .catch((error: unknown) => error);
  await settled();
  const first = backend.attempts.length;
  expect(first).toBe(permits + 1);
  await clock.advance(59_900);
  // Pauses of up to three seconds, as at a lock, and nine slots after each.
  expect((backend.attempts.length - first) / 60).toBeLessThan(6);
  await clock.advance(100);
  expect(await waiting).toBeInstanceOf(LockTimeoutError);
  for (const one of leave) await one();
});

test("a slot that comes free while a waiter looks elsewhere is found without an announcement, too", async () => {
  backend.announcesReleases = false;
  const permits = 40;
  const leave = await strangersInside(permits);
  const entering = locks.withLock("a", ({ slot }) => slot, { permits, timeout: "infinite" });
  await clock.advance(30_000);
  await leave[30]!();
  await clock.advance(20_000);
  expect(await entering).toBe(31);
  for (const one of leave) await one();
});

test("a release that is announced lets the waiter in at once, by a look at that slot alone", async () => {
  const permits = 40;
  const leave = await strangersInside(permits);
  const entering = locks.withLock("a", ({ slot }) => slot, { permits, timeout: 60_000 });
  await clock.advance(10_000);
  const before = backend.attempts.length;
  await leave[30]!();
  await settled();
  expect(await entering).toBe(31);
  expect(backend.attempts.slice(before).map(({ resourceId }) => resourceId)).toEqual(["a#31"]);
  for (const one of leave) await one();
});

test("a waiter stands in line for one slot, and leaves that line with the slot that it gets instead", async () => {
  const leave = await strangersInside(3);
  const entering = locks.withLock("a", ({ slot }) => slot, { permits: 3, timeout: 60_000 });
  await clock.advance(5_000);
  expect([...server.waiters]).toEqual([["a#1", "process-1"]]);
  await leave[2]!();
  await settled();
  expect(await entering).toBe(3);
  expect(server.waiters.size).toBe(0);
  for (const one of leave) await one();
});

test("a waiter whose time is over leaves its line", async () => {
  const leave = await strangersInside(2);
  const waiting = locks
    .withLock("a", () => "in", { permits: 2, timeout: 500 })
    .catch((error: unknown) => error);
  await clock.advance(100);
  expect(server.waiters.size).toBe(1);
  await clock.advance(400);
  expect(await waiting).toBeInstanceOf(LockTimeoutError);
  await settled();
  expect(server.waiters.size).toBe(0);
  for (const one of leave) await one();
});

test("a process has no more slots than callers inside, however many of its callers wait", async () => {
  const leave = await strangersInside(2);
  const gate = new Gate();
  const entering = [1, 2, 3].map(() =>
    locks.withLock("a", () => gate.passed, { permits: 2, timeout: 60_000 }),
  );
  await clock.advance(1_000);
  await leave[0]!();
  await settled();
  expect(ownSlots()).toEqual(["a#1"]);
  await clock.advance(5_000);
  expect(ownSlots()).toEqual(["a#1"]);
  await leave[1]!();
  await clock.advance(5_000);
  expect(ownSlots().sort()).toEqual(["a#1", "a#2"]);
  gate.open();
  await clock.advance(100);
  await Promise.all(entering);
});

test("a slot behind which the number cannot be read is given back, and asked for again", async () => {
  let failures = 1;
  const flaky: LockBackend = {
    adapter: "fake",
    attempt: (id, request) => backend.attempt(id, request),
    slots: (semaphore) => {
      const read = server.permits.get.bind(server.permits);
      server.permits.get = (id) => {
        if ((failures -= 1) >= 0) throw new Error("no answer");
        return read(id);
      };
      return backend.slots(semaphore);
    },
    close: () => backend.close(),
  };
  const provider = new LinedLockProvider(flaky, { clock, random: () => 0 });
  const entering = provider.withLock("a", ({ slot }) => slot, { permits: 2, timeout: 1_000 });
  await settled();
  expect(ownSlots()).toEqual([]);
  await clock.advance(20);
  expect(await entering).toBe(1);
});

test("a slot that is lost while the number is read is not entered", async () => {
  const attempt = backend.attempt.bind(backend);
  let isLost = false;
  backend.attempt = async (id, request) => {
    const answer = await attempt(id, request);
    if (!isLost && id === "a#1") {
      isLost = true;
      server.expire(id);
    }
    return answer;
  };
  expect(
    await locks.withLock("a", (hold) => (hold.assertHeld(), hold.slot), { permits: 2, timeout: 0 }),
  ).toBe(1);
  expect(isLost).toBe(true);
  expect(server.permits.get("a")).toBe(2);
});

describe("the number of permits", () => {
  const other = (name: string): LinedLockProvider =>
    new LinedLockProvider(server.backend(name), { clock, random: () => 0 });

  test("a number that no holder uses is changed by the first of several who bring a new one, and all of them get in", async () => {
    server.permits.set("a", 3);
    const gate = new Gate();
    const inside = [locks, other("process-2"), other("process-3")].map((provider) =>
      provider.withLock("a", async ({ slot }) => (await gate.passed, slot), { permits: 5, timeout: 1_000 }),
    );
    await clock.advance(200);
    expect([...server.held.keys()].sort()).toEqual(["a#1", "a#2", "a#3"]);
    gate.open();
    await clock.advance(200);
    expect((await Promise.all(inside)).sort()).toEqual([1, 2, 3]);
    expect(server.permits.get("a")).toBe(5);
  });

  test("a holder in the last slot alone is enough to keep the number, also from those who count fewer", async () => {
    const leave = await strangersInside(3);
    await leave[0]!();
    await leave[1]!();
    for (const permits of [1, 2, 4])
      await expect(locks.withLock("a", () => "in", { permits, timeout: 0 })).rejects.toMatchObject({
        code: "lock_permits",
        permits,
        agreed: 3,
      });
    expect([...server.held.keys()]).toEqual(["a#3"]);
    await leave[2]!();
    expect(await locks.withLock("a", () => "in", { permits: 1, timeout: 0 })).toBe("in");
  });

  test("a caller is told of another number in its own process, also while nobody but waiters use that", async () => {
    const leave = await strangersInside(2);
    const waiting = locks.withLock("a", () => "in", { permits: 2, timeout: 60_000 });
    await clock.advance(10);
    await expect(locks.withLock("a", () => "in", { permits: 3 })).rejects.toBeInstanceOf(LockPermitsError);
    await leave[0]!();
    await clock.advance(100);
    expect(await waiting).toBe("in");
    await leave[1]!();
  });

  test("a caller with another number is let in although a question of one who gave up is under way", async () => {
    const leave = await strangersInside(2);
    const gate = new Gate();
    backend.beforeAttempt = () => gate.passed;
    const waiting = locks
      .withLock("a", () => "in", { permits: 2, timeout: 50 })
      .catch((error: unknown) => error);
    await clock.advance(50);
    expect(await waiting).toBeInstanceOf(LockUnavailableError);
    for (const one of leave) await one();
    const entering = locks.withLock("a", () => "in", { permits: 3, timeout: 1_000 });
    await settled();
    gate.open();
    await clock.advance(10);
    expect(await entering).toBe("in");
  });

  test("a caller with another number is told of it at once when somebody comes who counts as before", async () => {
    const leave = await strangersInside(2);
    const gate = new Gate();
    backend.beforeAttempt = () => gate.passed;
    const gaveUp = locks
      .withLock("a", () => "in", { permits: 2, timeout: 50 })
      .catch((error: unknown) => error);
    await clock.advance(50);
    await gaveUp;
    const refused = expect(locks.withLock("a", () => "in", { permits: 3 })).rejects.toBeInstanceOf(
      LockPermitsError,
    );
    const waiting = locks.withLock("a", () => "in", { permits: 2, timeout: 60_000 });
    await refused;
    gate.open();
    for (const one of leave) await one();
    await clock.advance(5_000);
    expect(await waiting).toBe("in");
  });

  test("a provider whose backend has no slots refuses permits, and says what to do", async () => {
    const plain = new LinedLockProvider({
      adapter: "plain",
      attempt: (id, request) => backend.attempt(id, request),
      close: () => backend.close(),
    });
    await expect(plain.withLock("a", () => "in", { permits: 2 })).rejects.toMatchObject({
      code: "lock_unavailable",
      permanent: true,
      message: expect.stringContaining("take it without permits") as string,
    });
  });
});

describe("who is told of whom", () => {
  test("a caller who does not get a slot in time is told who has one", async () => {
    const leave = await strangersInside(2);
    for (const timeout of [0, 500]) {
      const refused = locks
        .withLock("a", () => "in", { permits: 2, timeout })
        .catch((error: unknown) => error);
      await clock.advance(500);
      expect(await refused).toMatchObject({ code: "lock_timeout", holder: { ownerId: "stranger:1" } });
    }
    for (const one of leave) await one();
  });

  test("strangers who are met one after the other in a slot are not taken for one who stays and counts otherwise", async () => {
    const leave = await strangersInside(2);
    let met = 0;
    backend.beforeAttempt = () => {
      const held = server.held.get("a#1")!;
      server.held.set("a#1", { ...held, holder: { ownerId: `stranger ${(met += 1)}` } });
    };
    const refused = locks.withLock("a", () => "in", { permits: 3, timeout: 0 });
    await expect(refused).rejects.toBeInstanceOf(LockTimeoutError);
    backend.beforeAttempt = () => {};
    for (const one of leave) await one();
  });

  test("a waiter in front keeps its line, and its number, when the last holder of this process leaves", async () => {
    const [inside, asking] = [new Gate(), new Gate()];
    const holding = locks.withLock("a", () => inside.passed, { permits: 1, timeout: 60_000 });
    await settled();
    backend.beforeAttempt = () => asking.passed;
    const waiting = locks.withLock("a", () => "in", { permits: 1, timeout: 60_000 });
    await settled();
    inside.open();
    await holding;
    await settled();
    expect(locks.queues()).toMatchObject([{ resourceId: "a" }]);
    await expect(locks.withLock("a", () => "in", { permits: 2 })).rejects.toBeInstanceOf(LockPermitsError);
    asking.open();
    await clock.advance(5_000);
    expect(await waiting).toBe("in");
  });

  test("a caller with another number is told of it at once, where another one waits behind a question of one who gave up", async () => {
    const leave = await strangersInside(2);
    const gate = new Gate();
    backend.beforeAttempt = () => gate.passed;
    const gaveUp = locks
      .withLock("a", () => "in", { permits: 2, timeout: 50 })
      .catch((error: unknown) => error);
    await clock.advance(50);
    await gaveUp;
    const waiting = locks.withLock("a", () => "in", { permits: 2, timeout: 60_000 });
    let told: unknown;
    void locks.withLock("a", () => "in", { permits: 3 }).catch((error: unknown) => (told = error));
    await settled();
    expect(told).toBeInstanceOf(LockPermitsError);
    gate.open();
    for (const one of leave) await one();
    await clock.advance(5_000);
    expect(await waiting).toBe("in");
  });
});

test("a process does not ask for the slots that it has, and asks for them again when they were left", async () => {
  const gate = new Gate();
  const first = locks.withLock("a", ({ slot }) => gate.passed.then(() => slot), { permits: 2 });
  await settled();
  const before = backend.attempts.length;
  expect(await locks.withLock("a", ({ slot }) => slot, { permits: 2 })).toBe(2);
  expect(backend.attempts.slice(before).map(({ resourceId }) => resourceId)).toEqual(["a#2"]);
  gate.open();
  expect(await first).toBe(1);
  await settled();
  expect(await locks.withLock("a", () => backend.attempts.at(-1)?.resourceId, { permits: 2 })).toMatch(
    /^a#[12]$/,
  );
});

test("a wait is over when its time is, however much of it was spent behind callers of this process", async () => {
  const gate = new Gate();
  const holding = locks.withLock("a", () => gate.passed);
  await settled();
  let ended: unknown;
  void locks.withLock("a", () => "in", { timeout: 5_000 }).catch((error: unknown) => (ended = error));
  await clock.advance(3_000);
  gate.open();
  backend.beforeAttempt = () => {
    if (!server.held.has("a")) server.held.set("a", { ...other, lost: new AbortController() });
  };
  const other = { ownerId: "stranger", holder: { ownerId: "stranger" } };
  await holding;
  await clock.advance(1_900);
  expect(ended).toBeUndefined();
  await clock.advance(100);
  expect(ended).toMatchObject({ code: "lock_timeout", waitedMs: 5_000, holder: { ownerId: "stranger" } });
  server.held.delete("a");
});

test("a waiter whom another process is in front of goes on waiting, and gets in after it", async () => {
  const stranger = server.backend("stranger");
  const holder = await stranger.attempt("a", { mayWait: false });
  server.waiters.set("a", "another");
  const waiting = locks.withLock("a", () => "in", { timeout: 60_000 });
  await clock.advance(5_000);
  server.waiters.delete("a");
  if (holder.kind === "acquired") await holder.tenure.release();
  await clock.advance(5_000);
  expect(await waiting).toBe("in");
});
