import { strict as assert } from "node:assert";
import { acquireLock, acquireLocks, type HeldLock } from "../../../application/locking/acquire-lock";
import {
  LockCancelledError,
  LockLostError,
  LockReentrancyError,
} from "../../../application/ports/lock-errors";
import type { LockOptions } from "../../../application/ports/lock-provider";
import { within, type LockContractTest, type LockContractWorld } from "./contract-test";
import { enter, heard } from "./steps";

const test = (name: string, run: (world: LockContractWorld) => Promise<void>): LockContractTest => ({
  layer: "hands out",
  name,
  run,
});

/** A handle that does not outlive its test. */
async function take(
  { locks, patienceMs, onEnd }: LockContractWorld,
  resourceId: string,
  options: LockOptions = {},
): Promise<HeldLock> {
  const taking = acquireLock(locks, resourceId, { timeout: patienceMs, ...options });
  const lock = await within(patienceMs * 2, taking);
  onEnd(() => void heard(lock.release()));
  return lock;
}

export const handsOut: readonly LockContractTest[] = [
  test("the provider hands out a handle that says what a section is told, and holds until its release", async (world) => {
    const lock = await take(world, "a");
    assert.equal(lock.resourceId, "a");
    assert.ok(Number.isInteger(lock.waitedMs) && lock.waitedMs >= 0, "waitedMs is in whole milliseconds");
    assert.equal(lock.signal.aborted, false);
    assert.ok(lock.aloneForMs() > 0, "others are kept out for a while");
    lock.assertHeld();
    await lock.release();
    assert.throws(() => lock.assertHeld(), LockLostError);
    const next = await enter(world, "a", (hold) => hold.fencingToken);
    assert.ok(next > lock.fencingToken, "the next holder's token is greater");
  }),

  test("the provider takes a handle back as often as it is released, and at the end of its block", async (world) => {
    const lock = await take(world, "a");
    await Promise.all([lock.release(), lock.release()]);
    const successor = await take(world, "a");
    // As `await using` does it.
    await lock[Symbol.asyncDispose]();
    successor.assertHeld();
    await successor[Symbol.asyncDispose]();
    assert.equal(await enter(world, "a", () => "free"), "free");
  }),

  test("the provider refuses to hand out from inside one of its holds, and what a handle's holder locks is not taken for re-entry", async (world) => {
    await enter(world, "a", async () => {
      await assert.rejects(acquireLock(world.locks, "b", { timeout: 0 }), LockReentrancyError);
    });
    const lock = await take(world, "a");
    assert.equal(await enter(world, "b", () => "passes"), "passes");
    await lock.release();
  }),

  test("the provider hands out several locks at once, which are released together", async (world) => {
    const { locks, patienceMs } = world;
    const both = await acquireLocks(locks, ["b", "a", "b"], { timeout: patienceMs });
    world.onEnd(() => void heard(both.release()));
    assert.deepEqual([...both.holds.keys()], ["a", "b"]);
    both.assertHeld();
    assert.equal(both.signal.aborted, false);
    await both.release();
    assert.throws(() => both.assertHeld(), LockLostError);
    for (const id of ["a", "b"]) assert.equal(await enter(world, id, () => "free"), "free");
  }),

  test("the provider hands out nothing to a caller who was cancelled", async (world) => {
    const signal = AbortSignal.abort();
    await assert.rejects(acquireLock(world.locks, "a", { signal }), LockCancelledError);
    assert.equal(await enter(world, "a", () => "free"), "free");
  }),
];
