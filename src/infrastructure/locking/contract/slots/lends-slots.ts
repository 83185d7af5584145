import { strict as assert } from "node:assert";
import { acquireLock } from "../../../../application/locking/acquire-lock";
import { tryWithLock } from "../../../../application/locking/try-with-lock";
import { withLocks } from "../../../../application/locking/with-locks";
import {
  LockCancelledError,
  LockPermitsError,
  LockReentrancyError,
  LockTimeoutError,
} from "../../../../application/ports/lock-errors";
import type { LockHold } from "../../../../application/ports/lock-provider";
import { within, type LockContractTest, type LockContractWorld } from "../contract-test";
import { aWhile, enter, heard, occupy, type Occupant } from "../steps";

const test = (name: string, run: (world: LockContractWorld) => Promise<void>): LockContractTest => ({
  layer: "lends slots",
  name,
  run,
});

export const lendsSlots: readonly LockContractTest[] = [
  test("the provider lets as many in as there are permits, and the next one when one of them leaves", async (world) => {
    const permits = 3;
    const occupants = await occupyAll(world, permits);
    assert.deepEqual(occupants.map(({ hold }) => hold.slot).sort(), [1, 2, 3]);
    await assert.rejects(
      world.locks.withLock("a", world.mustNotRun, { permits, timeout: 0 }),
      LockTimeoutError,
    );
    assert.equal(await tryWithLock(world.locks, "a", world.mustNotRun, { permits, timeout: 50 }), null);
    const [, second] = occupants;
    const entering = enter(world, "a", ({ slot }) => slot, { permits });
    await second?.leave();
    assert.equal(await entering, second?.hold.slot);
    for (const { leave } of occupants) await leave();
  }),

  test("the provider never has more inside than there are permits, and lets everybody in", async (world) => {
    const permits = 3;
    let inside = 0;
    let most = 0;
    const section = async (): Promise<void> => {
      most = Math.max(most, (inside += 1));
      await aWhile();
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 12 }, () => enter(world, "a", section, { permits })));
    assert.ok(most <= permits, `${most} were inside at once`);
  }),

  test("the provider gives each holder a slot and a fencing token of its own, and tokens that grow in each slot", async (world) => {
    const permits = 2;
    const holds: LockHold[] = [];
    const inside = new Set<number>();
    const section = async (hold: LockHold): Promise<void> => {
      const { slot = 0 } = hold;
      assert.ok(slot >= 1 && slot <= permits, `slot ${slot} is from 1 to ${permits}`);
      assert.ok(!inside.has(slot), `slot ${slot} has one holder`);
      inside.add(slot);
      holds.push(hold);
      await aWhile();
      inside.delete(slot);
    };
    await Promise.all(Array.from({ length: 8 }, () => enter(world, "a", section, { permits })));
    const tokens = holds.map(({ fencingToken }) => fencingToken);
    assert.equal(new Set(tokens).size, holds.length, "no two holders get the same token");
    for (const slot of [1, 2]) {
      const ofSlot = holds.filter((hold) => hold.slot === slot).map(({ fencingToken }) => fencingToken);
      assert.ok(
        ofSlot.every((token, n) => n === 0 || token > (ofSlot[n - 1] ?? token)),
        "the tokens of a slot grow",
      );
    }
  }),

  test("the provider lets the callers of one process in in the order in which they came", async (world) => {
    const permits = 2;
    const occupants = await occupyAll(world, permits);
    const order: number[] = [];
    const entering = [1, 2, 3, 4].map((n) => enter(world, "a", () => void order.push(n), { permits }));
    for (const { leave } of occupants) await leave();
    await Promise.all(entering);
    assert.deepEqual(order, [1, 2, 3, 4]);
  }),

  test("the provider lets in as many single attempts at once as there are free slots", async (world) => {
    const permits = 3;
    const { leave } = await occupy(world, "a", { permits });
    const occupied = await Promise.allSettled(
      [1, 2, 3].map(() => occupy(world, "a", { permits, timeout: 0 })),
    );
    const [refused] = occupied.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    const inside = occupied.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    assert.equal(inside.length, 2);
    assert.ok(
      refused instanceof LockTimeoutError,
      `refused with LockTimeoutError, and not ${String(refused)}`,
    );
    for (const occupant of inside) await occupant.leave();
    await leave();
  }),

  test("the provider gets a slot back after a rejection and after a synchronous throw", async (world) => {
    const permits = 2;
    const own = new Error("the section's own");
    const fail = (): never => {
      throw own;
    };
    for (let n = 0; n < 2; n += 1) {
      await assert.rejects(
        enter(world, "a", () => Promise.reject(own), { permits }),
        (error) => error === own,
      );
      await assert.rejects(enter(world, "a", fail, { permits }), (error) => error === own);
    }
    for (const { leave } of await occupyAll(world, permits)) await leave();
  }),

  test("the provider leaves no trace of waiters that timed out or were cancelled", async (world) => {
    const { locks, mustNotRun, patienceMs } = world;
    const permits = 2;
    const occupants = await occupyAll(world, permits);
    const cancel = new AbortController();
    const cancelled = heard(
      locks.withLock("a", mustNotRun, { permits, timeout: patienceMs, signal: cancel.signal }),
    );
    const late = heard(locks.withLock("a", mustNotRun, { permits, timeout: 50 }));
    await aWhile();
    cancel.abort();
    await assert.rejects(cancelled, LockCancelledError);
    await assert.rejects(late, LockTimeoutError);
    for (const { leave } of occupants) await leave();
    for (const { leave } of await occupyAll(world, permits)) await leave();
  }),

  test("the provider tells a caller who gives another number while a holder is inside, and takes it afterwards", async (world) => {
    const { leave } = await occupy(world, "a", { permits: 2 });
    for (const permits of [1, 3])
      await assert.rejects(
        enter(world, "a", world.mustNotRun, { permits }),
        (error) => error instanceof LockPermitsError && error.permits === permits && error.agreed === 2,
      );
    assert.equal(await enter(world, "a", () => "in", { permits: 2 }), "in");
    await leave();
    for (const { leave: leaveSlot } of await occupyAll(world, 3)) await leaveSlot();
  }),

  test("the provider refuses to lend a slot from inside one of its holds, and lends several ids at once through withLocks", async (world) => {
    const { locks, patienceMs } = world;
    const options = { permits: 2, timeout: patienceMs };
    await enter(
      world,
      "a",
      () => assert.rejects(locks.withLock("a", world.mustNotRun, options), LockReentrancyError),
      options,
    );
    await enter(world, "b", () =>
      assert.rejects(locks.withLock("a", world.mustNotRun, options), LockReentrancyError),
    );
    const both = (ids: readonly string[]) =>
      withLocks(locks, ids, ({ size }) => aWhile().then(() => size), options);
    const crowd = [1, 2, 3, 4].flatMap(() => [both(["a", "b"]), both(["b", "a"])]);
    const sizes = await within(4 * patienceMs, Promise.all(crowd.map(heard)));
    assert.ok(sizes.every((size) => size === 2));
  }),

  test("the provider hands slots out, and keeps one for a while", async (world) => {
    const { locks, patienceMs } = world;
    const options = { permits: 2, timeout: patienceMs };
    const lock = await acquireLock(locks, "a", options);
    world.onEnd(() => void heard(lock.release()));
    lock.assertHeld();
    await enter(world, "a", () => undefined, { ...options, lockAtLeastFor: 700 });
    assert.equal(await tryWithLock(locks, "a", world.mustNotRun, { permits: 2 }), null);
    await lock.release();
    assert.throws(() => lock.assertHeld());
    assert.equal(await enter(world, "a", ({ slot }) => slot, options), lock.slot);
    for (const { leave } of await occupyAll(world, 2)) await leave();
  }),

  test("the provider refuses a number of permits that is none", async (world) => {
    for (const permits of [0, -1, 1.5, NaN, Infinity, 1_025])
      await assert.rejects(enter(world, "a", world.mustNotRun, { permits }), RangeError);
  }),
];

/** Every slot of it. */
export async function occupyAll(world: LockContractWorld, permits: number): Promise<readonly Occupant[]> {
  const occupants: Occupant[] = [];
  for (let n = 0; n < permits; n += 1) occupants.push(await occupy(world, "a", { permits }));
  return occupants;
}
