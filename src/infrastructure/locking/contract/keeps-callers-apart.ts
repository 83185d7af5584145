import { strict as assert } from "node:assert";
import { getEventListeners } from "node:events";
import { withLocks } from "../../../application/locking/with-locks";
import { LockCancelledError, LockTimeoutError } from "../../../application/ports/lock-errors";
import type { LockEventType } from "../../../application/ports/lock-observer";
import type { LockContractTest, LockContractWorld } from "./contract-test";
import { aWhile, enter, heard, LITERAL_IDS, occupy } from "./steps";

const test = (name: string, run: (world: LockContractWorld) => Promise<void>): LockContractTest => ({
  layer: "keeps callers apart",
  name,
  run,
});

const CALLERS = 20;

export const keepsCallersApart: readonly LockContractTest[] = [
  test("the provider serializes sections of one id", async (world) => {
    let inside = 0;
    let total = 0;
    const section = async (): Promise<void> => {
      inside += 1;
      const before = total;
      await aWhile();
      assert.equal(inside, 1);
      total = before + 1;
      inside -= 1;
    };
    await Promise.all(Array.from({ length: CALLERS }, () => enter(world, "a", section)));
    assert.equal(total, CALLERS);
  }),

  test("the provider lets sections of different ids pass each other, and takes every id literally", async (world) => {
    let inside = 0;
    let allInside!: () => void;
    const together = new Promise<void>((resolve) => (allInside = resolve));
    const section = async (): Promise<void> => {
      inside += 1;
      if (inside === LITERAL_IDS.length) allInside();
      await together;
    };
    await Promise.all(LITERAL_IDS.map((id) => enter(world, id, section)));
  }),

  test("the provider serves the callers of one process in the order in which they came", async (world) => {
    const { leave } = await occupy(world, "a");
    const served: number[] = [];
    const waiting = Array.from({ length: CALLERS }, (_, n) =>
      enter(world, "a", async () => void served.push(n)),
    );
    await aWhile();
    await leave();
    await Promise.all(waiting);
    assert.deepEqual(served, [...Array(CALLERS).keys()]);
  }),

  test("the provider lets the next one in after a rejection and after a synchronous throw", async (world) => {
    const own = new Error("the section's own");
    const failing = [
      (): Promise<never> => Promise.reject(own),
      (): Promise<never> => {
        throw own;
      },
    ];
    for (const section of failing) {
      const failed = heard(assert.rejects(enter(world, "a", section), (error) => error === own));
      const next = enter(world, "a", async () => "next");
      await failed;
      assert.equal(await next, "next");
    }
  }),

  test("the provider makes one attempt with timeout 0, and rejects with LockTimeoutError while somebody is inside", async (world) => {
    const { leave } = await occupy(world, "a");
    for (let n = 0; n < 2; n += 1) {
      const refused = world.locks.withLock("a", world.mustNotRun, { timeout: 0 });
      await assert.rejects(refused, LockTimeoutError);
    }
    await leave();
    assert.equal(await enter(world, "a", async () => "in", { timeout: 0 }), "in");
  }),

  test("the provider rejects with LockTimeoutError when the budget runs out, and names the limit and its source", async (world) => {
    const { leave } = await occupy(world, "a");
    const limit = { timeout: 30, source: "the contract" };
    await assert.rejects(world.locks.withLock("a", world.mustNotRun, { timeout: limit }), (error) => {
      assert.ok(error instanceof LockTimeoutError);
      assert.deepEqual(error.limit, limit);
      assert.equal(error.resourceId, "a");
      assert.match(error.message, /the contract/);
      return true;
    });
    await leave();
    await aWhile();
    assert.equal(await enter(world, "a", async () => "free"), "free");
  }),

  test("the provider rejects a cancelled waiter with LockCancelledError, and keeps no listener on its signal", async (world) => {
    const { leave } = await occupy(world, "a");
    const stop = new AbortController();
    const waiting = world.locks.withLock("a", world.mustNotRun, { timeout: "infinite", signal: stop.signal });
    const cancelled = heard(assert.rejects(waiting, LockCancelledError));
    await aWhile();
    stop.abort();
    await cancelled;
    assert.equal(getEventListeners(stop.signal, "abort").length, 0);
    await leave();
    await aWhile();
    assert.equal(await enter(world, "a", async () => "free"), "free");
  }),

  test("the provider forgets who gave up: those behind are served as if it had never come", async (world) => {
    const { leave } = await occupy(world, "a");
    const stop = new AbortController();
    const served: string[] = [];
    const first = enter(world, "a", async () => void served.push("first"));
    const cancelled = heard(
      assert.rejects(
        world.locks.withLock("a", world.mustNotRun, { timeout: "infinite", signal: stop.signal }),
        LockCancelledError,
      ),
    );
    const late = heard(
      assert.rejects(world.locks.withLock("a", world.mustNotRun, { timeout: 20 }), LockTimeoutError),
    );
    const last = enter(world, "a", async () => void served.push("last"));
    await aWhile();
    stop.abort();
    await Promise.all([cancelled, late]);
    assert.deepEqual(served, []);
    await leave();
    await Promise.all([first, last]);
    assert.deepEqual(served, ["first", "last"]);
  }),

  test("the provider keeps no listener on a signal whose wait has ended well", async (world) => {
    const { leave } = await occupy(world, "a");
    const stop = new AbortController();
    const waiting = enter(world, "a", async () => "in", { signal: stop.signal });
    await aWhile();
    await leave();
    assert.equal(await waiting, "in");
    assert.equal(getEventListeners(stop.signal, "abort").length, 0);
  }),

  test("the provider does not lock up when withLocks is given the same ids in different orders", async (world) => {
    const { locks, patienceMs } = world;
    let inside = 0;
    const section = async (): Promise<void> => {
      inside += 1;
      await aWhile();
      assert.equal(inside, 1);
      inside -= 1;
    };
    const orders = [
      ["a", "b", "c"],
      ["c", "b", "a"],
      ["b", "a", "c"],
    ];
    await Promise.all(
      [...orders, ...orders].map((ids) => withLocks(locks, ids, section, { timeout: patienceMs })),
    );
  }),

  test("the provider tells the observer how each wait began and ended", async (world) => {
    const { leave } = await occupy(world, "a");
    const listener = (): {
      types: LockEventType[];
      observer: { notify(event: { type: LockEventType }): void };
    } => {
      const types: LockEventType[] = [];
      return { types, observer: { notify: ({ type }) => void types.push(type) } };
    };
    const [served, late, cancelled] = [listener(), listener(), listener()];
    const stop = new AbortController();
    const waiting = enter(world, "a", async () => 1, { observer: served.observer });
    const outOfTime = world.locks.withLock("a", world.mustNotRun, { timeout: 20, observer: late.observer });
    const stopped = world.locks.withLock("a", world.mustNotRun, {
      signal: stop.signal,
      observer: cancelled.observer,
    });
    const settled = Promise.allSettled([outOfTime, stopped]);
    await aWhile();
    stop.abort();
    await settled;
    await leave();
    await waiting;
    for (const { types } of [served, late, cancelled]) assert.equal(types[0], "wait_started");
    assert.deepEqual(served.types.slice(-2), ["acquired", "released"]);
    assert.equal(late.types.at(-1), "timed_out");
    assert.equal(cancelled.types.at(-1), "cancelled");
  }),
];
