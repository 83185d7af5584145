import { strict as assert } from "node:assert";
import { acquireLock } from "../../../application/locking/acquire-lock";
import { tryWithLock } from "../../../application/locking/try-with-lock";
import { withLocks } from "../../../application/locking/with-locks";
import { LockLostError, LockTimeoutError } from "../../../application/ports/lock-errors";
import type { LockEventType } from "../../../application/ports/lock-observer";
import { within, type LeaseHarness, type LockContractTest, type LockContractWorld } from "./contract-test";
import { enter, heard, occupy } from "./steps";

interface World extends LockContractWorld {
  readonly lease: LeaseHarness;
}

const test = (name: string, run: (world: World) => Promise<void>): LockContractTest => ({
  layer: "honours its lease",
  name,
  run: async (world) => {
    const { lease } = world;
    assert.ok(lease !== undefined, '"honours its lease" needs `lease`');
    await run({ ...world, lease });
  },
});

export const honoursItsLease: readonly LockContractTest[] = [
  test("the provider fires the hold's signal and fails assertHeld when the lock is lost, and tells the observer once", async (world) => {
    const types: LockEventType[] = [];
    const observer = { notify: ({ type }: { type: LockEventType }) => void types.push(type) };
    const { hold, leave } = await occupy(world, "a", { observer });
    const fired = new Promise<void>((resolve) => hold.signal.addEventListener("abort", () => resolve()));
    await world.lease.lose("a");
    await within(world.patienceMs, fired);
    assert.throws(() => hold.assertHeld(), LockLostError);
    await leave();
    assert.equal(types.filter((type) => type === "lost").length, 1);
  }),

  test("the provider fires the signal of a handle whose lock is lost, and takes it back without an error", async (world) => {
    const lock = await acquireLock(world.locks, "a", { timeout: world.patienceMs });
    world.onEnd(() => void heard(lock.release()));
    const fired = new Promise<void>((resolve) => lock.signal.addEventListener("abort", () => resolve()));
    await world.lease.lose("a");
    await within(world.patienceMs, fired);
    assert.throws(() => lock.assertHeld(), LockLostError);
    await lock.release();
  }),

  test("the provider tells a section of several locks that one of them is lost", async (world) => {
    await withLocks(
      world.locks,
      ["a", "b"],
      async (holds) => {
        const fired = new Promise<void>((resolve) => holds.signal.addEventListener("abort", () => resolve()));
        await world.lease.lose("b");
        await within(world.patienceMs, fired);
        assert.match(String(holds.signal.reason), /^[ab]: /);
        assert.throws(() => holds.assertHeld(), LockLostError);
      },
      { timeout: world.patienceMs },
    );
  }),

  test("the provider keeps nothing of a minimum hold when the lock is lost meanwhile", async (world) => {
    await enter(world, "a", () => undefined, { lockAtLeastFor: 3 * world.patienceMs, release: "behind" });
    assert.equal(await tryWithLock(world.locks, "a", world.mustNotRun), null);
    await world.lease.lose("a");
    assert.equal(await enter(world, "a", () => "free"), "free");
  }),

  test("the provider lets the outcome of a section stand whose lock was lost", async (world) => {
    const outcome = await enter(world, "a", async () => {
      await world.lease.lose("a");
      return "captured";
    });
    assert.equal(outcome, "captured");
  }),

  test("the provider has given the lock back when a caller who awaits the release has its answer", async (world) => {
    const another = await world.lease.another();
    for (let round = 0; round < 10; round += 1) {
      await enter(world, "a", async () => round, { release: "await" });
      assert.equal(await another.withLock("a", async () => "free", { timeout: 0, release: "await" }), "free");
    }
  }),

  test("the provider does not let a stale holder free its successor", async (world) => {
    const another = await world.lease.another();
    const stale = await occupy(world, "a");
    await world.lease.lose("a");
    const successor = await occupy({ ...world, locks: another }, "a");
    assert.ok(successor.hold.fencingToken > stale.hold.fencingToken, "the successor's token is greater");
    await stale.leave();
    await assert.rejects(world.locks.withLock("a", world.mustNotRun, { timeout: 0 }), LockTimeoutError);
    successor.hold.assertHeld();
    await successor.leave();
  }),

  test("the provider masks nothing when the release fails: the section's value and error stand", async (world) => {
    const own = new Error("the section's own");
    await world.lease.failReleases();
    assert.equal(await enter(world, "a", async () => "captured"), "captured");
    await assert.rejects(
      enter(world, "b", () => Promise.reject(own)),
      (error) => error === own,
    );
  }),
];
