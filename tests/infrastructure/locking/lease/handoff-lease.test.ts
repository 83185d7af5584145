import type { HandoffLock } from "../../../../src/application/ports/handoff-lock";
import {
  LockCancelledError,
  LockContentionError,
  LockLostError,
  LockReentrancyError,
  LockTimeoutError,
  LockUnavailableError,
} from "../../../../src/application/ports/lock-errors";
import type { LockEventType } from "../../../../src/application/ports/lock-observer";
import { TransientLeaseStoreError } from "../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { settled } from "../../../support/fakes/gate";
import { fate, LeaseWorld, type LeaseProcess } from "../../../support/worlds/lease-world";

const id = "sandbox:1";

let world: LeaseWorld;
let a: LeaseProcess;
let b: LeaseProcess;
let c: LeaseProcess;

beforeEach(() => {
  world = new LeaseWorld();
  a = world.process("a");
  b = world.process("b");
  c = world.process("c");
});

afterEach(() => world.close());

/** What a hand-off lock told its owner, in order. */
function heard(lock: HandoffLock): string[] {
  const calls: string[] = [];
  lock.onReleaseRequested(() => calls.push("asked"));
  lock.onLost((reason) => calls.push(`lost: ${reason}`));
  return calls;
}

describe("a hand-off lock", () => {
  test("a hand-off lock is renewed from acquisition to release without help, and leaves no timer behind", async () => {
    const lock = a.locks.handoffLock(id);
    const hold = await lock.acquire({ timeout: 0 });
    await world.clock.advance(300_000);
    hold.assertHeld();
    await lock.release();
    expect(world.stored(id)?.ownerId).toBeNull();
    expect(world.clock.pendingTimers).toBe(0);
    expect(() => hold.assertHeld()).toThrow(LockLostError);
  });

  test("a hand-off lock that is released early keeps others out for the rest of its minimum, without its process", async () => {
    const lock = a.locks.handoffLock(id);
    const events: LockEventType[] = [];
    await lock.acquire({
      timeout: 0,
      lockAtLeastFor: 20_000,
      observer: { notify: ({ type }) => events.push(type) },
    });
    lock.onReleaseRequested(() => void lock.release());
    let isNextIn = false;
    const next = b.locks.handoffLock(id);
    const entering = next.acquire({ timeout: 60_000 }).then(() => (isNextIn = true));
    await world.clock.advance(5_000);
    expect(events.slice(-2)).toEqual(["kept", "released"]);
    await world.clock.advance(14_000);
    expect(isNextIn).toBe(false);
    // The rest, the others' margin, and their next look.
    await world.clock.advance(5_000);
    expect(isNextIn).toBe(true);
    await entering;
    await next.release();
  });

  test("a hand-off lock that is held for longer than its minimum is free with its release", async () => {
    const lock = a.locks.handoffLock(id);
    await lock.acquire({ timeout: 0, lockAtLeastFor: 20_000 });
    await world.clock.advance(21_000);
    await lock.release();
    expect(world.stored(id)?.ownerId).toBeNull();
  });

  test("a hand-off lock looks every two seconds whether somebody waits, by reading alone", async () => {
    const lock = a.locks.handoffLock(id);
    await lock.acquire({ timeout: 0 });
    a.store.takeRequests();
    await world.clock.advance(9_900);
    expect(a.store.takeRequests()).toEqual(["read", "read", "read", "read"]);
    await lock.release();
  });

  test("a hand-off lock tells its owner once of each waiter, however long the owner takes", async () => {
    const lock = a.locks.handoffLock(id);
    const calls = heard(lock);
    await lock.acquire({ timeout: 0 });
    const first = b.locks.handoffLock(id).acquire({ timeout: 5_000 });
    first.catch(() => undefined);
    await world.clock.advance(20_000);
    await expect(first).rejects.toBeInstanceOf(LockTimeoutError);
    expect(calls).toEqual(["asked"]);
    const second = c.locks.handoffLock(id).acquire({ timeout: 5_000 });
    second.catch(() => undefined);
    await world.clock.advance(20_000);
    expect(calls).toEqual(["asked", "asked"]);
    await expect(second).rejects.toBeInstanceOf(LockTimeoutError);
    await lock.release();
  });

  test("a hand-off lock passes from one process to the other and back, each time within a look and a poll", async () => {
    const locks = [a.locks.handoffLock(id), b.locks.handoffLock(id)] as const;
    let lastFence = 0n;
    for (const lock of locks) lock.onReleaseRequested(() => void lock.release());
    await locks[0].acquire();
    for (let turn = 1; turn < 7; turn += 1) {
      const askedMs = world.clock.monotonicMs();
      let enteredMs = 0;
      const next = locks[turn % 2 === 0 ? 0 : 1];
      void next.acquire({ timeout: 60_000 }).then((hold) => {
        enteredMs = world.clock.monotonicMs();
        expect(hold.fencingToken).toBeGreaterThan(lastFence);
        lastFence = hold.fencingToken;
      });
      await world.clock.advance(3_000);
      // 2 s until the owner looks, 1 s until the waiter polls; requests take no time here.
      expect(enteredMs - askedMs).toBeLessThanOrEqual(3_000);
      expect(enteredMs).toBeGreaterThan(0);
    }
    await Promise.all(locks.map((lock) => lock.release()));
  });

  test("a hand-off lock goes to its waiter and to nobody who comes in between", async () => {
    const lock = a.locks.handoffLock(id);
    await lock.acquire();
    const waiting = b.locks.handoffLock(id);
    const next = waiting.acquire({ timeout: 60_000 });
    await world.clock.advance(100);
    await lock.release();
    await expect(c.locks.handoffLock(id).acquire({ timeout: 60_000 })).rejects.toBeInstanceOf(
      LockContentionError,
    );
    await expect(lock.acquire({ timeout: 60_000 })).rejects.toBeInstanceOf(LockContentionError);
    await world.clock.advance(1_000);
    await next;
    await waiting.release();
  });

  test("a hand-off lock fails fast when another live waiter is registered, and names it", async () => {
    const lock = a.locks.handoffLock(id);
    await lock.acquire();
    const first = b.locks.handoffLock(id).acquire({ timeout: 5_000 });
    first.catch(() => undefined);
    await world.clock.advance(10);
    const startedMs = world.clock.monotonicMs();
    const refusal = c.locks.handoffLock(id).acquire({ timeout: 60_000 });
    await expect(refusal).rejects.toBeInstanceOf(LockContentionError);
    await expect(refusal).rejects.toMatchObject({ waitingOwnerId: "b:1:t2" });
    expect(world.clock.monotonicMs()).toBe(startedMs);
    await world.clock.advance(6_000);
    await expect(first).rejects.toBeInstanceOf(LockTimeoutError);
    await lock.release();
  });

  test("a hand-off lock registers nobody with a timeout of 0", async () => {
    const lock = a.locks.handoffLock(id);
    await lock.acquire();
    await expect(b.locks.handoffLock(id).acquire({ timeout: 0 })).rejects.toBeInstanceOf(LockTimeoutError);
    expect(world.stored(id)?.waitingOwnerId).toBeNull();
    await lock.release();
  });

  test("a hand-off lock takes a waiter that is cancelled out of the record", async () => {
    const lock = a.locks.handoffLock(id);
    await lock.acquire();
    const cancel = new AbortController();
    const waiting = b.locks.handoffLock(id).acquire({ timeout: "infinite", signal: cancel.signal });
    waiting.catch(() => undefined);
    await world.clock.advance(500);
    expect(world.stored(id)?.waitingOwnerId).toBe("b:1:t2");
    cancel.abort();
    await expect(waiting).rejects.toBeInstanceOf(LockCancelledError);
    await settled();
    expect(world.stored(id)?.waitingOwnerId).toBeNull();
    await lock.release();
  });

  test("a hand-off lock gives back a lock that was acquired after its caller had stopped waiting", async () => {
    const cancel = new AbortController();
    const lock = a.locks.handoffLock(id);
    const calls = heard(lock);
    a.store.next("write", async (carryOut) => {
      const answer = await carryOut();
      cancel.abort();
      return answer;
    });
    await expect(lock.acquire({ signal: cancel.signal })).rejects.toBeInstanceOf(LockCancelledError);
    await a.locks.close();
    expect(world.stored(id)?.ownerId).toBeNull();
    expect(calls).toEqual([]);
  });

  test("a hand-off lock tells of its loss once, at the end of the lease, and then leaves the record to others", async () => {
    const lock = a.locks.handoffLock(id);
    const calls = heard(lock);
    const hold = await lock.acquire();
    for (let index = 0; index < 100; index += 1)
      a.store.next("write", fate.failed(new TransientLeaseStoreError("503")));
    await world.clock.advance(29_999);
    expect(calls).toEqual([]);
    await world.clock.advance(1);
    expect(calls).toEqual(["lost: its lease ended before a renewal was confirmed"]);
    expect(() => hold.assertHeld()).toThrow(LockLostError);
    a.store.clear();
    await world.clock.advance(1_900);
    // For as long as others would keep out, too, so that the owner can stop what it is doing.
    expect(world.stored(id)?.ownerId).toBe("a:1:t1");
    await world.clock.advance(200);
    expect(world.stored(id)?.ownerId).toBeNull();
    expect(calls).toHaveLength(1);
    const again = await lock.acquire({ timeout: 0 });
    again.assertHeld();
    await lock.release();
  });

  test("a hand-off lock can be acquired again right after a loss and right after a release, each time under a new name", async () => {
    const lock = a.locks.handoffLock(id);
    await lock.acquire();
    await world.amend(id, { ownerId: null });
    await world.clock.advance(2_001);
    await lock.acquire({ timeout: 0 });
    expect(world.stored(id)?.ownerId).toBe("a:1:t2");
    void lock.release();
    await lock.acquire({ timeout: 1_000 });
    expect(world.stored(id)?.ownerId).toBe("a:1:t3");
    await lock.release();
  });

  test("a hand-off lock is released once, however often one asks, and never for a successor", async () => {
    const lock = a.locks.handoffLock(id);
    await lock.release();
    await lock.acquire();
    a.store.takeRequests();
    await Promise.all([lock.release(), lock.release()]);
    expect(a.store.takeRequests()).toEqual(["write"]);
    const successor = b.locks.handoffLock(id);
    await successor.acquire({ timeout: 0 });
    await lock.release();
    expect(world.stored(id)?.ownerId).toBe("b:1:t2");
    await successor.release();
  });

  test("a hand-off lock refuses to be acquired twice at once", async () => {
    const lock = a.locks.handoffLock(id);
    const first = lock.acquire();
    await expect(lock.acquire()).rejects.toBeInstanceOf(LockReentrancyError);
    await first;
    await expect(lock.acquire()).rejects.toBeInstanceOf(LockReentrancyError);
    await lock.release();
  });

  test("a hand-off lock keeps short sections out, and hears that they wait", async () => {
    const lock = a.locks.handoffLock(id);
    const calls = heard(lock);
    await lock.acquire();
    const section = b.locks.withLock(id, () => Promise.resolve("done"), { timeout: 60_000 });
    await world.clock.advance(2_500);
    expect(calls).toEqual(["asked"]);
    await lock.release();
    await world.clock.advance(1_000);
    expect(await section).toBe("done");
  });

  test("a hand-off lock tells observers the whole story of a hand-off", async () => {
    const types: LockEventType[] = [];
    const lock = a.locks.handoffLock(id);
    lock.onReleaseRequested(() => void lock.release());
    await lock.acquire({ observer: { notify: ({ type }) => void types.push(type) } });
    await world.clock.advance(10_100);
    const next = b.locks.handoffLock(id);
    const acquired = next.acquire({ timeout: 60_000 });
    await world.clock.advance(3_000);
    await acquired;
    expect(types).toEqual(["acquired", "renewed", "handoff_requested", "released"]);
    await next.release();
  });

  test("a hand-off lock is revoked when its provider is closed, and its record outlives the owner's chance to notice", async () => {
    const lock = a.locks.handoffLock(id);
    const calls = heard(lock);
    const hold = await lock.acquire();
    await a.locks.close();
    expect(calls).toEqual(["lost: its lock provider was closed"]);
    expect(() => hold.assertHeld()).toThrow(LockLostError);
    expect(world.stored(id)?.ownerId).toBe("a:1:t1");
    await lock.release();
    expect(world.stored(id)?.ownerId).toBeNull();
  });

  describe("whose former tenure cannot be given back", () => {
    let lock: HandoffLock;
    beforeEach(async () => {
      lock = a.locks.handoffLock(id);
      await lock.acquire();
      for (const request of ["write", "read"] as const)
        for (let index = 0; index < 100; index += 1) a.store.next(request, fate.lost);
      void lock.release();
    });

    test.each([0, 500])("ends an acquisition with %d ms at its limit", async (timeout) => {
      const refused = lock.acquire({ timeout });
      const verdict = refused.catch((error: unknown) => error);
      // A single attempt is given the time of one request.
      await world.clock.advance(timeout === 0 ? 2_000 : timeout);
      const refusal = await Promise.race([verdict, settled().then(() => "still waiting")]);
      expect(refusal).toBeInstanceOf(LockUnavailableError);
      expect((refusal as Error).message).toContain("not been given back yet");
    });

    test("a hand-off lock whose former tenure cannot be given back ends a cancelled acquisition at once", async () => {
      const cancel = new AbortController();
      const refused = lock.acquire({ timeout: "infinite", signal: cancel.signal });
      refused.catch(() => undefined);
      await world.clock.advance(10);
      cancel.abort();
      const refusal = Promise.race([refused, settled().then(() => "still waiting")]);
      await expect(refusal).rejects.toBeInstanceOf(LockCancelledError);
    });
  });

  test("a hand-off lock ends a pending acquisition when its provider is closed, and acquires nothing after that", async () => {
    const holder = a.locks.handoffLock(id);
    await holder.acquire();
    const waiting = b.locks.handoffLock(id);
    const pending = waiting.acquire({ timeout: "infinite" });
    pending.catch(() => undefined);
    await world.clock.advance(100);
    await b.locks.close();
    await expect(Promise.race([pending, settled()])).rejects.toBeInstanceOf(LockUnavailableError);
    expect(world.stored(id)?.waitingOwnerId).toBeNull();
    await holder.release();
    await world.clock.advance(10_000);
    expect(world.stored(id)?.ownerId).toBeNull();
    await expect(waiting.acquire()).rejects.toBeInstanceOf(LockUnavailableError);
  });
});
