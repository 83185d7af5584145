import { strict as assert } from "node:assert";
import { tryAcquireLock, tryAcquireLocks } from "../../../application/locking/acquire-lock";
import { tryWithLock, tryWithLocks } from "../../../application/locking/try-with-lock";
import { LockCancelledError, LockTimeoutError } from "../../../application/ports/lock-errors";
import { within, type LockContractTest, type LockContractWorld } from "./contract-test";
import { enter, heard, occupy } from "./steps";

const test = (name: string, run: (world: LockContractWorld) => Promise<void>): LockContractTest => ({
  layer: "can be tried",
  name,
  run,
});

export const canBeTried: readonly LockContractTest[] = [
  test("the provider answers null to a try while another holder is inside, and runs the section when it is free", async (world) => {
    const { leave } = await occupy(world, "a");
    assert.equal(await tryWithLock(world.locks, "a", world.mustNotRun), null);
    assert.equal(await tryWithLock(world.locks, "b", () => "in"), "in");
    await leave();
    assert.equal(await enter(world, "a", () => "free"), "free");
    assert.equal(
      await tryWithLock(world.locks, "a", () => undefined, { timeout: world.patienceMs }),
      undefined,
    );
  }),

  test("the provider answers null to a try whose limit runs out, and lets a longer one in", async (world) => {
    const { leave } = await occupy(world, "a");
    assert.equal(await tryWithLock(world.locks, "a", world.mustNotRun, { timeout: 50 }), null);
    const entering = tryWithLock(world.locks, "a", () => "in", { timeout: world.patienceMs });
    await leave();
    assert.equal(await within(world.patienceMs * 2, entering), "in");
  }),

  test("the provider passes on a section's own LockTimeoutError, and the cancellation of a try", async (world) => {
    const limit = { timeout: 0, source: "the section's own" };
    const own = new LockTimeoutError("another lock", 0, limit);
    await assert.rejects(
      tryWithLock(world.locks, "a", (): string => {
        throw own;
      }),
      (error) => error === own,
    );
    const signal = AbortSignal.abort();
    await assert.rejects(tryWithLock(world.locks, "a", world.mustNotRun, { signal }), LockCancelledError);
  }),

  test("the provider hands out null while another holder is inside, and a handle keeps others out until its release", async (world) => {
    const { locks, patienceMs } = world;
    const lock = await tryAcquireLock(locks, "a", { timeout: patienceMs });
    assert.ok(lock !== null, "a free lock is handed out");
    world.onEnd(() => void heard(lock.release()));
    assert.equal(await tryAcquireLock(locks, "a"), null);
    assert.equal(await tryWithLock(locks, "a", world.mustNotRun), null);
    await lock.release();
    assert.equal(await enter(world, "a", () => "free"), "free");
  }),

  test("the provider answers null to a try of several while one of them has another holder, and keeps none of them", async (world) => {
    const { locks, patienceMs } = world;
    const { leave } = await occupy(world, "b");
    const ids = ["c", "b", "a"];
    assert.equal(await tryWithLocks(locks, ids, world.mustNotRun), null);
    assert.equal(await tryAcquireLocks(locks, ids), null);
    for (const id of ["a", "c"]) assert.equal(await enter(world, id, () => "free"), "free");
    await leave();
    assert.equal(await tryWithLocks(locks, ids, (holds) => holds.size, { timeout: patienceMs }), 3);
  }),
];
