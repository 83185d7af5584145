import {
  LockContentionError,
  LockLostError,
  LockTimeoutError,
  LockUnavailableError,
} from "../../../../../src/application/ports/lock-errors";
import { TransientLeaseStoreError } from "../../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { Gate, settled } from "../../../../support/fakes/gate";
import { fate, LeaseWorld, type LeaseProcess } from "../../../../support/worlds/lease-world";

const id = "payment:1";
/** Who has waited for a while. */
const LOOKS_EVERY_MS = 3_000;
const throttled = new TransientLeaseStoreError("429", { throttled: true });
const unavailable = new TransientLeaseStoreError("503");

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

/** Tries to get in at once, and says how that ended. */
const attempt = async ({ locks }: LeaseProcess): Promise<string> => {
  let ending = "pending";
  void locks
    .withLock(id, () => Promise.resolve(), { timeout: 0 })
    .then(
      () => (ending = "got in"),
      (error: unknown) => (ending = error instanceof Error ? error.name : "?"),
    );
  for (let round = 0; round < 20 && ending === "pending"; round += 1) await settled();
  return ending;
};

/** A process that goes away without a word while it is inside. */
const die = (process: LeaseProcess): void => {
  for (const request of ["read", "write", "age"] as const)
    for (let index = 0; index < 100; index += 1) process.store.next(request, fate.lost);
};

describe("a conflict is a question", () => {
  test("an owner whose record a waiter has changed renews on the new version and keeps the waiter", async () => {
    const owner = await world.occupy(a, id);
    await world.amend(id, { waitingOwnerId: "x:1:t", waiterExpiresAt: 1 });
    a.store.takeRequests();
    await world.clock.advance(10_001);
    expect(a.store.takeRequests()).toEqual(["write", "read", "write"]);
    expect(world.stored(id)).toMatchObject({ waitingOwnerId: "x:1:t", ownerAgeMs: 0 });
    owner.hold.assertHeld();
    await owner.leave();
  });

  test("a release that meets a waiter's change is made again, and leaves the waiter in its place", async () => {
    const owner = await world.occupy(a, id);
    await world.amend(id, { waitingOwnerId: "x:1:t", waiterExpiresAt: 1 });
    await owner.leave();
    await settled();
    expect(world.stored(id)).toMatchObject({ ownerId: null, expiresAt: 0, waitingOwnerId: "x:1:t" });
  });

  test("an owner is lost when the record names somebody else, and when it is gone", async () => {
    for (const takeAway of [
      () => world.amend(id, { ownerId: "x:1:t" }),
      async () => {
        const seen = await world.records.read(id);
        if (seen !== null) await world.records.remove(id, seen.version);
      },
    ]) {
      const owner = await world.occupy(world.process("owner"), id);
      await takeAway();
      await world.clock.advance(10_001);
      expect(() => owner.hold.assertHeld()).toThrow(LockLostError);
      await owner.leave();
      await world.amend(id, { ownerId: null }).catch(() => undefined);
    }
  });
});

describe("an answer that never came", () => {
  test("an answer that never came to a claim that was applied: the record names us, so it was us", async () => {
    a.store.next("write", fate.applied.silently);
    const entering = world.occupy(a, id, { timeout: 30_000 });
    await world.clock.advance(6_000);
    const owner = await entering;
    expect(world.stored(id)).toMatchObject({ ownerId: "a:1:t1", renewSeq: 0 });
    await owner.leave();
  });

  test("an answer that never came to a claim that was applied twice, and conflicted with itself", async () => {
    a.store.next("write", fate.applied.twice);
    const owner = await world.occupy(a, id, { timeout: 0 });
    expect(a.store.takeRequests()).toEqual(["write", "read"]);
    await owner.leave();
  });

  test("an answer that never came to a renewal that was applied: the record is read before anything is written again, and shows it", async () => {
    const owner = await world.occupy(a, id);
    a.store.takeRequests();
    a.store.next("write", fate.applied.silently);
    for (let index = 0; index < 100; index += 1) a.store.next("write", fate.failed(unavailable));
    await world.clock.advance(16_000);
    expect(a.store.takeRequests()).toEqual(["write", "read"]);
    // The first lease ends at 30 s; the renewal at 10 s, which nobody confirmed but the record, made it 40 s.
    await world.clock.advance(23_999);
    owner.hold.assertHeld();
    await world.clock.advance(1);
    expect(() => owner.hold.assertHeld()).toThrow(LockLostError);
    a.store.clear();
    await owner.leave();
  });

  test("an answer that never came to a renewal, nor to the question what became of it: it is written again all the same", async () => {
    const owner = await world.occupy(a, id);
    a.store.takeRequests();
    a.store.next("write", fate.lost);
    for (let index = 0; index < 100; index += 1) a.store.next("read", fate.lost);
    await world.clock.advance(29_000);
    expect(a.store.takeRequests()).toEqual(["write", "read", "write"]);
    await world.clock.advance(5_000);
    owner.hold.assertHeld();
    a.store.clear();
    await owner.leave();
  });

  test("an answer that never came to a renewal that was refused by 429: there is nothing to ask, for it was certainly not applied", async () => {
    const owner = await world.occupy(a, id);
    a.store.takeRequests();
    a.store.next("write", fate.failed(throttled));
    await world.clock.advance(15_000);
    expect(a.store.takeRequests()).toEqual(["write", "write"]);
    await owner.leave();
  });

  test("an answer that never came to a renewal, before another was refused by 429: what became of the first is asked at once", async () => {
    const owner = await world.occupy(a, id);
    a.store.takeRequests();
    a.store.next("write", fate.applied.silently);
    a.store.next("read", fate.lost);
    a.store.next("write", fate.failed(throttled));
    // Unanswered after 5 s each; then refused, and a read has no reason to wait for a second.
    await world.clock.advance(21_000);
    expect(a.store.takeRequests()).toEqual(["write", "read", "write", "read"]);
    await world.clock.advance(18_900);
    owner.hold.assertHeld();
    await owner.leave();
  });

  test("an answer that never came to a release: it is repeated until the record does not name us", async () => {
    const owner = await world.occupy(a, id);
    a.store.next("write", fate.lost);
    a.store.next("read", fate.failed(unavailable));
    await owner.leave();
    expect(world.stored(id)?.ownerId).toBe("a:1:t1");
    await world.clock.advance(6_000);
    expect(world.stored(id)?.ownerId).toBeNull();
  });
});

describe("a renewal that fails", () => {
  test("a renewal that fails is tried again as long as the lease lasts, also after 429 and 503", async () => {
    const owner = await world.occupy(a, id);
    for (const fault of [fate.failed(throttled), fate.failed(unavailable), fate.lost])
      a.store.next("write", fault);
    await world.clock.advance(29_000);
    expect(world.stored(id)).toMatchObject({ renewSeq: 5 });
    await world.clock.advance(5_000);
    owner.hold.assertHeld();
    await owner.leave();
  });

  test("a renewal that fails until the lease has ended: then the lock is lost, at its end and not later, by timer and by clock", async () => {
    const owner = await world.occupy(a, id);
    const reasons: string[] = [];
    owner.hold.signal.addEventListener("abort", () => reasons.push(String(owner.hold.signal.reason)));
    for (let index = 0; index < 50; index += 1) a.store.next("write", fate.failed(unavailable));
    await world.clock.advance(29_999);
    owner.hold.assertHeld();
    expect(reasons).toEqual([]);
    await world.clock.advance(1);
    expect(reasons).toEqual(["its lease ended before a renewal was confirmed"]);
    expect(() => owner.hold.assertHeld()).toThrow(LockLostError);
    a.store.clear();
    await owner.leave();
  });

  test("after 429 it waits for more than a second, so as not to be refused for coming too soon", async () => {
    const owner = await world.occupy(a, id);
    a.store.next("write", fate.failed(throttled));
    await world.clock.advance(10_001);
    a.store.takeRequests();
    await world.clock.advance(1_040);
    expect(a.store.takeRequests()).toEqual([]);
    await world.clock.advance(300);
    expect(a.store.takeRequests()).toEqual(["write"]);
    await owner.leave();
  });
});

describe("the loser of a race", () => {
  test("the loser of a race for the first record becomes the waiter", async () => {
    const owner = await world.occupy(a, id);
    const waiting = world.occupy(b, id, { timeout: 60_000 });
    await settled();
    expect(world.stored(id)).toMatchObject({ ownerId: "a:1:t1", waitingOwnerId: "b:1:t2" });
    await owner.leave();
    await world.clock.advance(1_000);
    await (await waiting).leave();
  });

  test("the loser of a race for the waiter's place hears of contention, because the winner lives", async () => {
    const owner = await world.occupy(a, id);
    b.store.next("write", async (carryOut) => {
      await world.amend(id, { waitingOwnerId: "x:1:t", waiterExpiresAt: 1 });
      return carryOut();
    });
    const handoff = b.locks.handoffLock(id);
    await expect(handoff.acquire({ timeout: 60_000 })).rejects.toBeInstanceOf(LockContentionError);
    await owner.leave();
  });

  test("the loser of a race who is told to slow down instead of that it lost, looks who is there", async () => {
    const owner = await world.occupy(a, id);
    b.store.next("write", fate.failed(throttled));
    expect(await attempt(b)).toBe("LockTimeoutError");
    await owner.leave();
  });
});

describe("the end of a lease", () => {
  test("the end of a lease is nobody's wall clock's to tell: an hour apart, nobody loses and nobody takes", async () => {
    a.wallSkewMs = -3_600_000;
    b.wallSkewMs = 3_600_000;
    const owner = await world.occupy(a, id);
    for (let minute = 0; minute < 3; minute += 1) {
      expect(await attempt(b)).toBe("LockTimeoutError");
      await world.clock.advance(60_000);
      owner.hold.assertHeld();
    }
    await owner.leave();
  });

  test("the end of a lease is counted from before the send: a slow answer makes it shorter, not later", async () => {
    const late = new Gate();
    a.store.next("write", async (carryOut) => {
      const answer = await carryOut();
      await late.passed;
      return answer;
    });
    const entering = world.occupy(a, id, { timeout: 60_000 });
    await world.clock.advance(4_000);
    late.open();
    const owner = await entering;
    for (let index = 0; index < 50; index += 1) a.store.next("write", fate.failed(unavailable));
    await world.clock.advance(25_999);
    owner.hold.assertHeld();
    await world.clock.advance(1);
    expect(() => owner.hold.assertHeld()).toThrow(LockLostError);
    a.store.clear();
    await owner.leave();
  });

  test("the end of a lease is counted from the last request that showed the record not yet ours, when the claim is found by reading", async () => {
    const arrival = new Gate();
    a.store.next("write", async (carryOut) => {
      await arrival.passed;
      await carryOut();
      return new Promise(() => undefined);
    });
    // Answered so late that its sender has given it up, after having shown the record absent.
    const entering = world.occupy(a, id, { timeout: 60_000 });
    a.store.next("write", fate.failed(unavailable));
    await world.clock.advance(5_000);
    arrival.open();
    await world.clock.advance(1_500);
    const owner = await entering;
    const enteredMs = world.clock.monotonicMs();
    for (let index = 0; index < 50; index += 1) a.store.next("write", fate.failed(unavailable));
    // The reading at 5 s showed no record yet; the one that found it came later, and does not count.
    await world.clock.advance(35_000 - enteredMs);
    expect(() => owner.hold.assertHeld()).toThrow(LockLostError);
    a.store.clear();
    await owner.leave();
  });

  test("the end of a lease is looked at once more at the entry: a claim found when most of its lease is over is renewed first", async () => {
    a.store.next("write", fate.applied.silently);
    for (let index = 0; index < 3; index += 1) a.store.next("read", fate.lost);
    const entering = world.occupy(a, id, { timeout: 60_000 });
    await world.clock.advance(21_500);
    const owner = await entering;
    expect(world.stored(id)).toMatchObject({ renewSeq: 1 });
    await owner.leave();
  });

  test("the end of a lease is seen by a waiter that has watched for the ttl and the margin, and not a moment before", async () => {
    const dead = await world.occupy(a, id);
    die(a);
    const waiting = world.occupy(b, id, { timeout: "infinite" });
    await world.clock.advance(31_900);
    expect(world.stored(id)?.ownerId).toBe("a:1:t1");
    await world.clock.advance(1_200);
    const successor = await waiting;
    expect(world.stored(id)?.ownerId).toBe("b:1:t2");
    expect(successor.hold.fencingToken).toBeGreaterThan(dead.hold.fencingToken);
    await successor.leave();
    a.store.clear();
    await dead.leave();
  });

  test("the end of a lease is seen at once by a process that has just come, by the age that the store tells", async () => {
    const dead = await world.occupy(a, id);
    die(a);
    await world.clock.advance(31_000);
    expect(await attempt(b)).toBe("LockTimeoutError");
    await world.clock.advance(1_100);
    c.store.takeRequests();
    expect(await attempt(c)).toBe("got in");
    expect(c.store.takeRequests().slice(0, 4)).toEqual(["write", "read", "age", "write"]);
    a.store.clear();
    await dead.leave();
  });
});

describe("the age of a record", () => {
  test("the age of a record that has changed meanwhile is nobody's: the record is read again", async () => {
    const owner = await world.occupy(a, id);
    b.store.next("age", async (carryOut) => {
      await world.amend(id, { renewSeq: 1 });
      return carryOut();
    });
    expect(await attempt(b)).toBe("LockTimeoutError");
    expect(b.store.takeRequests()).toEqual(["write", "read", "age", "read"]);
    await owner.leave();
  });
});

describe("what is seen of an owner", () => {
  test("what is seen of an owner is remembered from call to call: callers without patience take a dead holder's lock, too", async () => {
    const ageless = world.process("ageless");
    for (let index = 0; index < 100; index += 1) ageless.store.next("age", () => Promise.resolve(0));
    const dead = await world.occupy(a, id);
    die(a);
    let outcome = "";
    let tookMs = 0;
    for (; outcome !== "got in" && tookMs < 60_000; tookMs += 1_000) {
      outcome = await attempt(ageless);
      await world.clock.advance(1_000);
    }
    expect(tookMs).toBe(34_000);
    a.store.clear();
    await dead.leave();
  });

  test("what is seen of an owner is not made younger by a waiter's write, which says how old the owner was already", async () => {
    const dead = await world.occupy(a, id);
    die(a);
    await world.clock.advance(20_000);
    const waiting = b.locks.withLock(id, () => Promise.resolve(), { timeout: 5_000 });
    waiting.catch(() => undefined);
    await world.clock.advance(1_000);
    expect(world.stored(id)).toMatchObject({ waitingOwnerId: "b:1:t2", ownerAgeMs: 20_000 });
    await world.clock.advance(5_000);
    await expect(waiting).rejects.toBeInstanceOf(LockTimeoutError);
    await world.clock.advance(6_100);
    // The version is 7 s old, its owner was last heard of 32 s ago.
    expect(await attempt(c)).toBe("got in");
    a.store.clear();
    await dead.leave();
  });

  test("what is seen of an owner stays with the reading it was seen in: another caller's older answer makes no new owner look old", async () => {
    const first = await world.occupy(a, id);
    await world.clock.advance(25_000);
    // A waiter has written down for how long it has not heard of the first owner.
    await world.amend(id, { ownerAgeMs: 25_000 });
    const outdated = new Gate();
    b.store.next("read", async (carryOut) => {
      const answer = await carryOut();
      await outdated.passed;
      return answer;
    });
    const slow = b.locks.withLock(id, () => Promise.resolve(), { timeout: 0 });
    slow.catch(() => undefined);
    await settled();
    await first.leave();
    await settled();
    const second = await world.occupy(c, id);
    await world.clock.advance(3_000);
    // Another contender of b has read the second owner; before it acts on that, the older answer arrives.
    b.store.next("age", async (carryOut) => {
      outdated.open();
      await settled();
      return carryOut();
    });
    const waiting = b.locks.handoffLock(id).acquire({ timeout: 1_000 });
    waiting.catch(() => undefined);
    for (let round = 0; round < 5; round += 1) await settled();
    expect(world.stored(id)?.waitingOwnerId).toMatch(/^b:/);
    expect(world.stored(id)).toMatchObject({ ownerAgeMs: 3_000 });
    await world.clock.advance(5_000);
    second.hold.assertHeld();
    await second.leave();
  });
});

describe("the waiter", () => {
  test("the waiter renews its place every ten seconds, and keeps it against a clock that is an hour ahead", async () => {
    const owner = await world.occupy(a, id);
    const waiting = world.occupy(b, id, { timeout: "infinite" });
    await world.clock.advance(1);
    c.wallSkewMs = 3_600_000;
    const places = new Set<unknown>();
    for (let round = 0; round < 50; round += 1) {
      expect(await attempt(c)).toBe("LockContentionError");
      expect(world.stored(id)?.waitingOwnerId).toBe("b:1:t2");
      places.add(world.stored(id)?.waiterExpiresAt);
      await world.clock.advance(1_000);
    }
    // Every ten seconds, at the first look after that.
    expect(places.size).toBeGreaterThanOrEqual(4);
    await owner.leave();
    await world.clock.advance(LOOKS_EVERY_MS);
    await (await waiting).leave();
  });

  test("the waiter that died is followed by another after half a minute and the margin of silence", async () => {
    const owner = await world.occupy(a, id);
    const dead = b.locks.withLock(id, () => Promise.resolve(), { timeout: "infinite" });
    await settled();
    die(b);
    const waiting = world.occupy(c, id, { timeout: "infinite" });
    await world.clock.advance(31_000);
    expect(world.stored(id)?.waitingOwnerId).toBe("b:1:t2");
    await world.clock.advance(1_000 + LOOKS_EVERY_MS);
    expect(world.stored(id)?.waitingOwnerId).toBe("c:1:t3");
    await owner.leave();
    await world.clock.advance(LOOKS_EVERY_MS);
    await (await waiting).leave();
    b.store.clear();
    await world.clock.advance(6_000);
    await dead;
  });

  test.each([0, 900, 1_800])("looks when its turn has come, whenever else it looks: %i", async (cameMs) => {
    const owner = await world.occupy(a, id);
    await world.clock.advance(cameMs);
    const waiting = world.occupy(b, id, { timeout: "infinite" });
    await world.clock.advance(65_000 - cameMs);
    die(a);
    // Its last sign of life was at 60 s.
    await world.clock.advance(26_990);
    expect(world.stored(id)).toMatchObject({ ownerId: "a:1:t1" });
    await world.clock.advance(20);
    expect(world.stored(id)).toMatchObject({ ownerId: "b:1:t2" });
    await world.clock.advance(LOOKS_EVERY_MS);
    await (await waiting).leave();
    a.store.clear();
    await owner.leave();
  });

  test("in front that dies brings nobody's turn forward but the next one's: the others would all be due at once", async () => {
    const owner = await world.occupy(a, id);
    await world.amend(id, { waitingOwnerId: "x:1:t", waiterExpiresAt: 1, waitingBehind: ["y:1:t"] });
    const waiting = world.occupy(c, id, { timeout: "infinite" });
    await world.clock.advance(30_000);
    expect(world.stored(id)).toMatchObject({ waitingOwnerId: "x:1:t", waitingBehind: ["y:1:t", "c:1:t2"] });
    await owner.leave();
    // From 32 s on the front is dead; the turn of the one behind it is from 35 s on, ours from 40 s.
    await world.clock.advance(9_900);
    expect(world.stored(id)).toMatchObject({ ownerId: null, waitingBehind: ["y:1:t", "c:1:t2"] });
    await world.clock.advance(200 + LOOKS_EVERY_MS);
    await (await waiting).leave();
  });
});

test("a fence that cannot grow any more is told to a person, and not made worse", async () => {
  const owner = await world.occupy(a, id);
  await owner.leave();
  await settled();
  await world.amend(id, { fence: Number.MAX_SAFE_INTEGER });
  await expect(c.locks.withLock(id, () => Promise.resolve(), { timeout: 60_000 })).rejects.toThrow(
    /its fence cannot grow/,
  );
  expect(world.stored(id)).toMatchObject({ ownerId: null, fence: Number.MAX_SAFE_INTEGER });
});

describe("a release", () => {
  test("a release keeps the record with its fence, so that the next one is greater whatever the next clock says", async () => {
    const owner = await world.occupy(a, id);
    await owner.leave();
    await settled();
    expect(world.stored(id)).toMatchObject({ ownerId: null, fence: Number(owner.hold.fencingToken) });
    b.wallSkewMs = -3_600_000;
    const next = await world.occupy(b, id);
    expect(next.hold.fencingToken).toBe(owner.hold.fencingToken + 1n);
    await next.leave();
  });

  test("a release leaves the lock to its waiter: others hold back until the waiter has had five seconds", async () => {
    const owner = await world.occupy(a, id);
    const waiting = b.locks.withLock(id, () => Promise.resolve(), { timeout: "infinite" });
    await settled();
    die(b);
    await owner.leave();
    await settled();
    expect(world.stored(id)).toMatchObject({ ownerId: null, waitingOwnerId: "b:1:t2" });
    expect(await attempt(a)).toBe("LockContentionError");
    expect(await attempt(c)).toBe("LockContentionError");
    await world.clock.advance(4_900);
    expect(await attempt(c)).toBe("LockContentionError");
    await world.clock.advance(200);
    expect(await attempt(c)).toBe("got in");
    b.store.clear();
    await world.clock.advance(10_000);
    await waiting;
  });

  test("a release by a holder that was overtaken frees nobody: each tenure has a name of its own", async () => {
    const stale = await world.occupy(a, id);
    for (let index = 0; index < 50; index += 1) a.store.next("write", fate.lost);
    await world.clock.advance(33_000);
    const successor = await world.occupy(b, id);
    a.store.clear();
    await stale.leave();
    await world.clock.advance(2_000);
    expect(world.stored(id)?.ownerId).toBe("b:1:t2");
    successor.hold.assertHeld();
    expect(stale.hold.fencingToken).toBeLessThan(successor.hold.fencingToken);
    await successor.leave();
  });

  test("a release is behind the answer: withLock has settled, and only the next caller of this process waits for it", async () => {
    const confirmed = new Gate();
    const owner = await world.occupy(a, id);
    a.store.next("write", async (carryOut) => {
      await confirmed.passed;
      return carryOut();
    });
    await owner.leave();
    let isInside = false;
    const next = a.locks.withLock(id, () => Promise.resolve((isInside = true)), { timeout: 60_000 });
    await world.clock.advance(1_000);
    expect(isInside).toBe(false);
    confirmed.open();
    await next;
    expect(isInside).toBe(true);
  });

  test("a release that is never confirmed closes the line for no longer than the lease counts", async () => {
    const owner = await world.occupy(a, id);
    for (let index = 0; index < 100; index += 1) a.store.next("write", fate.failed(unavailable));
    await owner.leave();
    const next = a.locks.withLock(id, () => Promise.resolve(), { timeout: 60_000 });
    await world.clock.advance(31_000);
    expect(a.locks.size).toBe(1);
    a.store.clear();
    await world.clock.advance(4_000);
    await next;
  });
});

describe("leaving", () => {
  test("leaving goes on behind the caller's back until the record names us no more, and close waits for it", async () => {
    b = world.process("b", { closeMs: 10_000 });
    const owner = await world.occupy(a, id);
    const waiting = b.locks.withLock(id, () => Promise.resolve(), { timeout: 2_000 });
    waiting.catch(() => undefined);
    await world.clock.advance(1_500);
    expect(world.stored(id)?.waitingOwnerId).toBe("b:1:t2");
    b.store.next("write", fate.lost);
    b.store.next("write", fate.failed(unavailable));
    b.store.next("write", fate.failed(throttled));
    await world.clock.advance(500);
    await expect(waiting).rejects.toBeInstanceOf(LockTimeoutError);
    expect(world.stored(id)?.waitingOwnerId).toBe("b:1:t2");
    let isClosed = false;
    void b.locks.close().then(() => (isClosed = true));
    await world.clock.advance(4_000);
    expect(isClosed).toBe(false);
    await world.clock.advance(6_000);
    expect(isClosed).toBe(true);
    expect(world.stored(id)?.waitingOwnerId).toBeNull();
    await owner.leave();
  });

  test("leaving shuts out a claim that may still arrive: it finds another version than the one it was meant for", async () => {
    const before = await world.occupy(a, id);
    await before.leave();
    await settled();
    const arrival = new Gate();
    let answer: unknown;
    b.store.next("write", fate.failed(unavailable));
    b.store.next("write", async (carryOut) => {
      await arrival.passed;
      answer = await carryOut();
      return answer;
    });
    const waiting = b.locks.withLock(id, () => Promise.resolve(), { timeout: 2_000 });
    waiting.catch(() => undefined);
    await world.clock.advance(20_000);
    await expect(waiting).rejects.toBeInstanceOf(LockUnavailableError);
    arrival.open();
    await settled();
    expect(answer).toBe("conflict");
    expect(world.stored(id)?.ownerId).toBeNull();
  });

  test("leaving that was interrupted by a caller without patience goes on after it", async () => {
    const owner = await world.occupy(a, id);
    const waiting = b.locks.withLock(id, () => Promise.resolve(), { timeout: 2_000 });
    waiting.catch(() => undefined);
    await world.clock.advance(1_500);
    b.store.next("write", fate.failed(unavailable));
    await world.clock.advance(510);
    expect(await attempt(b)).toBe("LockTimeoutError");
    await world.clock.advance(3_000);
    expect(world.stored(id)?.waitingOwnerId).toBeNull();
    await owner.leave();
  });

  test("leaving that was interrupted frees nobody later: its release is shut out before the next caller is let in", async () => {
    const arrival = new Gate();
    let answer: unknown;
    a.store.next("write", async (carryOut) => {
      await carryOut();
      throw unavailable;
    });
    a.store.next("write", async (carryOut) => {
      await arrival.passed;
      answer = await carryOut();
      return answer;
    });
    await expect(attempt(a)).resolves.toBe("LockUnavailableError");
    await settled();
    const entering = world.occupy(a, id, { timeout: 60_000 });
    await world.clock.advance(6_000);
    const owner = await entering;
    expect(world.stored(id)).toMatchObject({ ownerId: "a:1:t1", renewSeq: 1 });
    arrival.open();
    await settled();
    expect(answer).toBe("conflict");
    await world.clock.advance(20_000);
    owner.hold.assertHeld();
    await owner.leave();
  });

  test("leaving is made unnecessary by the next caller, who inherits the place", async () => {
    const owner = await world.occupy(a, id);
    const first = b.locks.withLock(id, () => Promise.resolve(), { timeout: 2_000 });
    const second = b.locks.withLock(id, () => Promise.resolve(), { timeout: 20_000 });
    first.catch(() => undefined);
    await world.clock.advance(3_000);
    await expect(first).rejects.toBeInstanceOf(LockTimeoutError);
    expect(world.stored(id)?.waitingOwnerId).toBe("b:1:t2");
    await owner.leave();
    await world.clock.advance(1_000);
    await second;
  });
});

describe("a process that was not running", () => {
  test("a process that was not running does not enter on a claim whose answer it gets after the lease, but claims it again first", async () => {
    const late = new Gate();
    const slow = world.process("slow", { requestTimeoutMs: 60_000 });
    slow.store.next("write", async (carryOut) => {
      const answer = await carryOut();
      await late.passed;
      return answer;
    });
    const entering = world.occupy(slow, id, { timeout: "infinite" });
    await settled();
    world.clock.stall(29_000);
    late.open();
    const owner = await entering;
    expect(world.stored(id)).toMatchObject({ renewSeq: 1 });
    await world.clock.advance(5_000);
    owner.hold.assertHeld();
    await owner.leave();
  });

  test("a process that was not running knows on waking that its lease is over, before any timer has told it", async () => {
    const owner = await world.occupy(a, id);
    world.clock.stall(30_001);
    expect(() => owner.hold.assertHeld()).toThrow(LockLostError);
    expect(owner.hold.signal.aborted).toBe(true);
    await owner.leave();
  });

  test("a process that was not running knows it by the wall clock when its monotonic clock stood still with the machine", async () => {
    const owner = await world.occupy(a, id);
    a.wallSkewMs = 30_001;
    expect(() => owner.hold.assertHeld()).toThrow(LockLostError);
    await owner.leave();
  });

  test("a process that was not running is not taken in by a wall clock that was set back", async () => {
    const owner = await world.occupy(a, id);
    for (let index = 0; index < 100; index += 1) a.store.next("write", fate.failed(unavailable));
    a.wallSkewMs = -3_600_000;
    await world.clock.advance(30_000);
    expect(owner.hold.signal.aborted).toBe(true);
    a.store.clear();
    await owner.leave();
  });

  test("a process that was not running is told by the hold's signal as soon as it runs again", async () => {
    const owner = await world.occupy(a, id);
    a.wallSkewMs = 30_001;
    expect(owner.hold.signal.aborted).toBe(false);
    await world.clock.advance(10_001);
    expect(owner.hold.signal.aborted).toBe(true);
    await owner.leave();
  });
});
