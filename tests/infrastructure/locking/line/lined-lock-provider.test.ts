import { getEventListeners } from "node:events";
import {
  LockCancelledError,
  LockContentionError,
  LockLostError,
  LockTimeoutError,
  LockUnavailableError,
} from "../../../../src/application/ports/lock-errors";
import type { LockEvent } from "../../../../src/application/ports/lock-observer";
import type { LockHold } from "../../../../src/application/ports/lock-provider";
import { LinedLockProvider } from "../../../../src/infrastructure/locking/line/lined-lock-provider";
import { FakeLockServer, type FakeLockBackend } from "../../../support/fakes/fake-lock-backend";
import { Gate, settled } from "../../../support/fakes/gate";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";

describe("LinedLockProvider", () => {
  let clock: VirtualLockClock;
  let server: FakeLockServer;
  let backend: FakeLockBackend;
  let locks: LinedLockProvider;

  beforeEach(() => {
    clock = new VirtualLockClock();
    server = new FakeLockServer();
    backend = server.backend();
    locks = new LinedLockProvider(backend, { clock, random: () => 1 });
  });

  afterEach(async () => {
    await settled();
    expect({ ids: locks.size, timers: clock.pendingTimers, listeners: server.listeners.size }).toEqual({
      ids: 0,
      timers: 0,
      listeners: 0,
    });
  });

  /** Somebody in another process, inside until told otherwise. */
  async function stranger(id: string): Promise<{ leaves: () => Promise<void> }> {
    const answer = await server.backend("stranger").attempt(id, { mayWait: false, purpose: "settlement" });
    if (answer.kind !== "acquired") throw new Error("not free");
    return { leaves: () => answer.tenure.release() };
  }

  const failing = (message: string) => () => Promise.reject(new Error(message));

  describe("the loop", () => {
    it("the loop asks after 10 ms, doubles to 1 s, and asks a last time so that the answer is there at the deadline", async () => {
      backend.announcesReleases = false;
      const { leaves } = await stranger("a");
      const askedAt: number[] = [];
      backend.beforeAttempt = () => void askedAt.push(clock.monotonicMs());
      const late = locks.withLock("a", async () => 1, { timeout: 3_000 });
      const failure = late.catch((error: unknown) => error);
      await clock.advance(2_999);
      expect(locks.size).toBe(1);
      await clock.advance(1);
      expect(await failure).toMatchObject({ code: "lock_timeout", waitedMs: 3_000 });
      expect(askedAt).toEqual([0, 10, 30, 70, 150, 310, 630, 1_270, 2_270, 2_995]);
      await leaves();
    });

    it("the loop is woken by a release, also by one that came while an attempt was under way", async () => {
      const { leaves } = await stranger("a");
      const waiting = locks.withLock("a", async (hold) => hold.waitedMs, { timeout: "infinite" });
      await clock.advance(1_000);
      const attempt = new Gate();
      let isStale = true;
      backend.beforeAttempt = async () => {
        if (!isStale) return;
        isStale = false;
        await attempt.passed;
        throw new Error("an answer that knows nothing of the release");
      };
      await clock.advance(270);
      await leaves();
      attempt.open();
      await clock.advance(0);
      expect(await waiting).toBe(1_270);
    });

    it("the loop asks at most every 10 ms, however often the backend reports releases", async () => {
      const { leaves } = await stranger("a");
      const waiting = locks.withLock("a", async () => 1);
      await settled();
      const before = backend.attempts.length;
      for (let ms = 0; ms < 100; ms += 1) {
        for (const wake of server.listeners.get("a") ?? []) wake();
        await clock.advance(1);
      }
      expect(backend.attempts.length - before).toBeLessThanOrEqual(11);
      await leaves();
      await clock.advance(10);
      expect(await waiting).toBe(1);
    });

    it("the loop retries a backend that fails, and gets in when it recovers", async () => {
      backend.beforeAttempt = failing("connection refused");
      const waiting = locks.withLock("a", async () => "in", { timeout: 1_000 });
      await clock.advance(300);
      expect(backend.attempts.length).toBeGreaterThan(4);
      backend.beforeAttempt = () => {};
      await clock.advance(400);
      expect(await waiting).toBe("in");
    });

    it("the loop tells the observer of a wait what is the matter with the backend", async () => {
      backend.beforeAttempt = () => Promise.reject(new LockUnavailableError("a", "connection refused"));
      const failures = new Set<string | undefined>();
      const observer = { notify: ({ failure }: LockEvent) => void failures.add(failure) };
      const waiting = locks.withLock("a", async () => "in", { timeout: 1_000, observer });
      await clock.advance(300);
      expect([...failures]).toEqual(["connection refused"]);
      backend.beforeAttempt = () => {};
      await clock.advance(400);
      expect(await waiting).toBe("in");
      expect([...failures]).toEqual(["connection refused", undefined]);
    });

    it("the loop calls a backend that never answered unavailable at the end, with the cause", async () => {
      backend.beforeAttempt = failing("connection refused");
      const failure = locks.withLock("a", async () => 1, { timeout: 1_000 }).catch((error: unknown) => error);
      await clock.advance(1_000);
      expect(await failure).toBeInstanceOf(LockUnavailableError);
      expect(await failure).toMatchObject({
        message: "cannot lock a: connection refused; given up after 1 s (limit 1 s from the caller)",
      });
    });

    it("the loop calls it a timeout when somebody was seen inside before the backend failed", async () => {
      const { leaves } = await stranger("a");
      const failure = locks.withLock("a", async () => 1, { timeout: 1_000 }).catch((error: unknown) => error);
      await clock.advance(500);
      backend.beforeAttempt = failing("connection refused");
      await clock.advance(500);
      expect(await failure).toMatchObject({ code: "lock_timeout", holder: { purpose: "settlement" } });
      await leaves();
    });

    it("the loop does not ask again after an error that is permanent", async () => {
      const refused = new LockUnavailableError("a", "403", { permanent: true });
      backend.beforeAttempt = () => Promise.reject(refused);
      await expect(locks.withLock("a", async () => 1, { timeout: "infinite" })).rejects.toMatchObject({
        message: "cannot lock a: 403",
        permanent: true,
        cause: refused,
      });
      expect(backend.attempts).toHaveLength(1);
    });

    it("the loop tells a caller at its deadline, even if the attempt has no answer yet, and gives back what comes later", async () => {
      const attempt = new Gate();
      backend.beforeAttempt = () => attempt.passed;
      const failure = locks.withLock("a", async () => 1, { timeout: 500 }).catch((error: unknown) => error);
      await clock.advance(500);
      expect(await failure).toMatchObject({
        code: "lock_unavailable",
        message: expect.stringContaining("no answer from fake"),
      });
      attempt.open();
      await settled();
      expect(server.held.size).toBe(0);
    });

    it("the loop gives back a lock whose answer crossed the cancellation, however closely", async () => {
      for (let microtasks = 0; microtasks < 20; microtasks += 1) {
        const attempt = new Gate();
        backend.beforeAttempt = () => attempt.passed;
        const stop = new AbortController();
        const outcome = locks
          .withLock("a", async () => "in", { signal: stop.signal })
          .catch((error: unknown) => error);
        await settled();
        attempt.open();
        for (let n = 0; n < microtasks; n += 1) await Promise.resolve();
        stop.abort();
        expect(["in", expect.any(LockCancelledError)]).toContainEqual(await outcome);
        await settled();
        expect(server.held.size).toBe(0);
      }
    });

    it("the loop tells a cancelled caller at once, whatever the attempt is doing, and forgets its signal", async () => {
      const attempt = new Gate();
      backend.beforeAttempt = () => attempt.passed;
      const stop = new AbortController();
      let began = false;
      const cancelled = locks.withLock("a", async () => void (began = true), { signal: stop.signal });
      await settled();
      stop.abort();
      await expect(cancelled).rejects.toBeInstanceOf(LockCancelledError);
      expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
      attempt.open();
      await settled();
      expect(began).toBe(false);
      expect(server.held.size).toBe(0);
    });
  });

  describe("a single attempt", () => {
    it("a single attempt asks once, registers nobody, and says who is inside", async () => {
      const { leaves } = await stranger("a");
      await expect(locks.withLock("a", async () => 1, { timeout: 0 })).rejects.toThrow(
        "a is locked, held by stranger:1 (settlement); the limit of 0 s comes from the caller",
      );
      expect(backend.attempts).toEqual([{ resourceId: "a", mayWait: false }]);
      expect(server.waiters.size).toBe(0);
      await leaves();
    });

    it("a single attempt is told of contention when a live waiter of another process has the only place", async () => {
      const { leaves } = await stranger("a");
      server.waiters.set("a", "web-2");
      const refused = locks.withLock("a", async () => 1, { timeout: 0 });
      await expect(refused).rejects.toBeInstanceOf(LockContentionError);
      await expect(refused).rejects.toMatchObject({ waitingOwnerId: "web-2" });
      const patient = locks.withLock("a", async () => "in", { timeout: 2_000 });
      await clock.advance(100);
      server.waiters.delete("a");
      await leaves();
      await clock.advance(2_000);
      expect(await patient).toBe("in");
    });

    it("a single attempt is unavailable, not contended, when the backend fails", async () => {
      backend.beforeAttempt = failing("no route to host");
      await expect(locks.withLock("a", async () => 1, { timeout: 0 })).rejects.toThrow(LockUnavailableError);
      expect(backend.attempts).toHaveLength(1);
    });

    it("a single attempt is refused without asking while one of ours is inside", async () => {
      const gate = new Gate();
      const holder = locks.withLock("a", () => gate.passed, { purpose: "capture" });
      await settled();
      await expect(locks.withLock("a", async () => 1, { timeout: 0 })).rejects.toMatchObject({
        code: "lock_timeout",
        holder: { purpose: "capture" },
      });
      expect(backend.attempts).toHaveLength(1);
      gate.open();
      await holder;
    });

    it("a single attempt is refused while one of ours is in front, by what that one has learnt so far", async () => {
      const attempt = new Gate();
      backend.beforeAttempt = () => attempt.passed;
      const first = locks.withLock("a", async () => "in", { timeout: 500 });
      const firstTold = expect(first).rejects.toThrow("no answer from fake");
      await settled();
      await expect(locks.withLock("a", async () => 1, { timeout: 0 })).rejects.toThrow(LockTimeoutError);
      backend.beforeAttempt = failing("connection refused");
      const second = locks.withLock("b", async () => "in", { timeout: 500 });
      const told = expect(second).rejects.toThrow(LockUnavailableError);
      await settled();
      await expect(locks.withLock("b", async () => 1, { timeout: 0 })).rejects.toThrow(LockUnavailableError);
      await clock.advance(500);
      await Promise.all([told, firstTold]);
      attempt.open();
    });

    it("a single attempt waits for a release of ours that is still under way, which is nobody inside", async () => {
      const release = new Gate();
      backend.beforeRelease = () => release.passed;
      await locks.withLock("a", async () => 1);
      const next = locks.withLock("a", async () => "in", { timeout: 0 });
      await settled();
      expect(backend.attempts).toHaveLength(1);
      release.open();
      expect(await next).toBe("in");
    });
  });

  describe("the line", () => {
    it("the line sends one caller at a time to the backend, in the order in which they came", async () => {
      const served: number[] = [];
      const all = Array.from({ length: 20 }, (_, n) => locks.withLock("a", async () => void served.push(n)));
      await Promise.all(all);
      expect(served).toEqual(Array.from({ length: 20 }, (_, n) => n));
      expect(backend.attempts).toHaveLength(20);
    });

    it("the line answers when the section has settled, and stays closed until the release is confirmed", async () => {
      const release = new Gate();
      backend.beforeRelease = () => release.passed;
      const next: string[] = [];
      const first = locks.withLock("a", async () => "first");
      const second = locks.withLock("a", async () => void next.push("second"));
      expect(await first).toBe("first");
      await settled();
      expect(next).toEqual([]);
      expect(backend.attempts).toHaveLength(1);
      release.open();
      await second;
    });

    it("the line hands the remote place to the next when its head gives up, and leaves it only when nobody is left", async () => {
      const { leaves } = await stranger("a");
      const [stopFirst, stopSecond] = [new AbortController(), new AbortController()];
      const first = locks.withLock("a", async () => 1, { signal: stopFirst.signal });
      const second = locks.withLock("a", async () => 2, { signal: stopSecond.signal });
      await clock.advance(50);
      expect(server.waiters.get("a")).toBe("process-1");
      stopFirst.abort();
      await expect(first).rejects.toThrow(LockCancelledError);
      await settled();
      expect(backend.left).toEqual([]);
      expect(server.waiters.get("a")).toBe("process-1");
      stopSecond.abort();
      await expect(second).rejects.toThrow(LockCancelledError);
      await settled();
      expect(backend.left).toEqual(["a"]);
      expect(server.waiters.size).toBe(0);
      await leaves();
    });

    it("the line lets the next in line inherit the answer of an attempt whose caller has gone", async () => {
      const attempt = new Gate();
      backend.beforeAttempt = () => attempt.passed;
      const stop = new AbortController();
      const first = locks.withLock("a", async () => 1, { signal: stop.signal });
      const second = locks.withLock("a", async () => 2);
      await settled();
      stop.abort();
      await expect(first).rejects.toThrow(LockCancelledError);
      attempt.open();
      expect(await second).toBe(2);
      expect(backend.attempts).toHaveLength(1);
    });

    it("the line lets a newcomer inherit what an empty line was about to give back", async () => {
      const attempt = new Gate();
      backend.beforeAttempt = () => attempt.passed;
      const stop = new AbortController();
      const first = locks.withLock("a", async () => 1, { signal: stop.signal });
      await settled();
      stop.abort();
      await expect(first).rejects.toThrow(LockCancelledError);
      const newcomer = locks.withLock("a", async () => "in", { timeout: 0 });
      attempt.open();
      expect(await newcomer).toBe("in");
      expect(backend.attempts).toHaveLength(1);
      expect(backend.left).toEqual([]);
    });

    it("the line calls it unavailable for all who stood behind a head that never got an answer", async () => {
      backend.beforeAttempt = failing("connection refused");
      const failures = [1, 2, 3].map(() =>
        locks.withLock("a", async () => 1, { timeout: 1_000 }).catch((error: unknown) => error),
      );
      await clock.advance(1_000);
      for (const failure of await Promise.all(failures)) expect(failure).toBeInstanceOf(LockUnavailableError);
    });
  });

  describe("the hold", () => {
    it("the hold fires its signal and fails assertHeld when the lock is lost, and the section's outcome stands", async () => {
      const events: LockEvent[] = [];
      const outcome = await locks.withLock(
        "a",
        async (hold) => {
          hold.assertHeld();
          server.expire("a", "the lease ended");
          expect(hold.signal.aborted).toBe(true);
          expect(() => hold.assertHeld()).toThrow(LockLostError);
          return "captured";
        },
        { observer: { notify: (event) => events.push(event) } },
      );
      expect(outcome).toBe("captured");
      expect(events.map(({ type }) => type)).toEqual(["acquired", "lost", "released"]);
      expect(events[1]).toMatchObject({ reason: "the lease ended", adapter: "fake" });
    });

    it("the hold cannot be asserted once the section has ended", async () => {
      let kept: LockHold | undefined;
      await locks.withLock("a", async (hold) => void (kept = hold));
      expect(() => kept?.assertHeld()).toThrow("the section has ended");
    });

    it("the hold reports renewals and requests to hand over while it lasts", async () => {
      const events: string[] = [];
      const observer = { notify: (event: LockEvent) => void events.push(event.type) };
      await locks.withLock(
        "a",
        async () => {
          backend.tell({ type: "renewed" });
          backend.tell({ type: "handoff_requested" });
        },
        { observer },
      );
      backend.tell({ type: "renewed" });
      expect(events).toEqual(["acquired", "renewed", "handoff_requested", "released"]);
    });

    it("the hold gives back the section's own error even if the release fails, and the line goes on", async () => {
      const own = new Error("the section's own");
      backend.beforeRelease = failing("release failed");
      const first = locks.withLock("a", () => Promise.reject(own));
      await expect(first).rejects.toBe(own);
      server.held.clear();
      backend.beforeRelease = () => {};
      expect(await locks.withLock("a", async () => "next")).toBe("next");
    });
  });

  describe("events of a wait", () => {
    it("events of a wait names attempts, progress and the end, with the holder", async () => {
      backend.announcesReleases = false;
      const { leaves } = await stranger("a");
      const events: LockEvent[] = [];
      const observer = { notify: (event: LockEvent) => void events.push(event) };
      const failure = locks
        .withLock("a", async () => 1, { timeout: 1_500, observer })
        .catch((error: unknown) => error);
      await clock.advance(1_500);
      expect(await failure).toBeInstanceOf(LockTimeoutError);
      expect(events.map(({ type }) => type)).toEqual([
        "wait_started",
        ...Array.from({ length: 6 }, () => "retried"),
        "progressed",
        "retried",
        "retried",
        "timed_out",
      ]);
      expect(events.every(({ holder }) => holder?.purpose === "settlement")).toBe(true);
      await leaves();
    });

    it("become rare: a wait of five minutes wakes up some hundred times, and never waits longer than three seconds", async () => {
      backend.announcesReleases = false;
      const { leaves } = await stranger("a");
      const elapsed: number[] = [];
      const observer = { notify: (event: LockEvent) => void elapsed.push(event.elapsedMs) };
      const waiting = locks.withLock("a", async () => 1, { timeout: 300_000, observer });
      const told = expect(waiting).rejects.toBeInstanceOf(LockTimeoutError);
      await clock.advance(300_000);
      await told;
      const wakeUps = [...new Set(elapsed)];
      expect(wakeUps.length).toBeLessThan(150);
      const pauses = wakeUps.map((ms, n) => ms - (wakeUps[n - 1] ?? 0));
      expect(Math.max(...pauses)).toBeLessThan(3_001);
      await leaves();
    });

    it.each(["wait_started", "retried", "progressed"])(
      "stop for good when an observer cancels the wait at %s",
      async (at) => {
        backend.announcesReleases = false;
        const { leaves } = await stranger("a");
        const stop = new AbortController();
        const observer = { notify: ({ type }: LockEvent) => void (type === at && stop.abort()) };
        const waiting = locks.withLock("a", async () => 1, { observer, signal: stop.signal });
        const told = expect(waiting).rejects.toBeInstanceOf(LockCancelledError);
        await clock.advance(1_000);
        await told;
        await leaves();
      },
    );
  });

  describe("a caller who awaits the release", () => {
    it("a caller who awaits the release has its answer when the backend has the lock back, and not before", async () => {
      const release = new Gate();
      backend.beforeRelease = () => release.passed;
      let answered = false;
      const done = locks
        .withLock("a", async () => "captured", { release: "await" })
        .finally(() => (answered = true));
      await settled();
      expect(answered).toBe(false);
      release.open();
      await expect(done).resolves.toBe("captured");
      expect(server.held.size).toBe(0);
    });

    it("a caller who awaits the release has it after two seconds from a backend that does not confirm, and the section's outcome stands", async () => {
      const release = new Gate();
      backend.beforeRelease = () => release.passed;
      const done = locks.withLock("a", async () => "captured", { release: "await" });
      await settled();
      await clock.advance(2_000);
      await expect(done).resolves.toBe("captured");
      release.open();
    });

    it("a caller who awaits the release has it while the release goes on, where nothing else is asked for", async () => {
      const release = new Gate();
      backend.beforeRelease = () => release.passed;
      await expect(locks.withLock("a", async () => "captured")).resolves.toBe("captured");
      expect(server.held.size).toBe(1);
      release.open();
    });
  });

  describe("close", () => {
    it("close tells those who wait, waits for releases under way, and refuses newcomers", async () => {
      const [section, release] = [new Gate(), new Gate()];
      backend.beforeRelease = () => release.passed;
      const first = locks.withLock("a", () => section.passed);
      await settled();
      const waiting = locks.withLock("a", async () => 2);
      const told = expect(waiting).rejects.toThrow("cannot lock a: the provider is closed");
      section.open();
      await first;
      const closed = locks.close();
      expect(locks.close()).toBe(closed);
      await told;
      await settled();
      expect(backend.isClosed).toBe(false);
      release.open();
      await closed;
      expect(backend.isClosed).toBe(true);
      await expect(locks.withLock("b", async () => 1)).rejects.toThrow(LockUnavailableError);
    });

    it("close tells one who has only just asked", async () => {
      const asking = locks.withLock("a", async () => 1);
      const closed = locks.close();
      await expect(asking).rejects.toThrow("the provider is closed");
      await closed;
    });

    it("close waits for what an abandoned attempt may still bring", async () => {
      const attempt = new Gate();
      backend.beforeAttempt = () => attempt.passed;
      const asking = locks.withLock("a", async () => 1);
      await settled();
      const closed = locks.close();
      await expect(asking).rejects.toThrow("the provider is closed");
      attempt.open();
      await closed;
      expect(server.held.size).toBe(0);
    });
  });
});
