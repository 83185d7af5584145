import { strict as assert } from "node:assert";
import { tryWithLock, tryWithLocks } from "../../../application/locking/try-with-lock";
import { LockTimeoutError } from "../../../application/ports/lock-errors";
import type { LockEvent } from "../../../application/ports/lock-observer";
import type { LockContractTest, LockContractWorld } from "./contract-test";
import { enter, occupy } from "./steps";

const test = (name: string, run: (world: LockContractWorld) => Promise<void>): LockContractTest => ({
  layer: "keeps for a while",
  name,
  run,
});

/** Long enough to be seen on a busy machine. */
const KEPT_MS = 1_500;
/** Clocks of services, which may count whole milliseconds. */
const EARLY_MS = 2;

export const keepsForAWhile: readonly LockContractTest[] = [
  test("the provider answers when the section has ended, and keeps others out until the time is over", async (world) => {
    const beganMs = performance.now();
    const kept = await enter(world, "a", (hold) => hold.fencingToken, { lockAtLeastFor: KEPT_MS });
    assert.equal(await tryWithLock(world.locks, "a", world.mustNotRun), null);
    const next = await enter(world, "a", (hold) => {
      assert.ok(performance.now() - beganMs >= KEPT_MS - EARLY_MS, "the next holder came too early");
      return hold.fencingToken;
    });
    assert.ok(next > kept, "the next holder's token is greater");
  }),

  test("the provider keeps others out after a section that failed, too, and passes its error on at once", async (world) => {
    const own = new Error("the section's own");
    const beganMs = performance.now();
    const failing = enter(world, "a", () => Promise.reject(own), { lockAtLeastFor: KEPT_MS });
    await assert.rejects(failing, (error) => error === own);
    await enter(world, "a", () => undefined);
    assert.ok(performance.now() - beganMs >= KEPT_MS - EARLY_MS, "the next holder came too early");
  }),

  test("the provider keeps a lock no longer than its section, if that outlasts the time", async (world) => {
    await enter(world, "a", () => new Promise((resolve) => setTimeout(resolve, 20)), { lockAtLeastFor: 10 });
    assert.equal(await enter(world, "a", () => "free"), "free");
  }),

  test("the provider keeps nothing that several locks were wanted with in vain", async (world) => {
    const { leave } = await occupy(world, "b");
    const options = { lockAtLeastFor: 3 * world.patienceMs };
    assert.equal(await tryWithLocks(world.locks, ["a", "b"], world.mustNotRun, options), null);
    assert.equal(await enter(world, "a", () => "free"), "free");
    await leave();
  }),

  test("the provider answers a caller who awaits the release when this process is needed no more", async (world) => {
    const { lease } = world;
    const options = { lockAtLeastFor: KEPT_MS, release: "await" } as const;
    const beganMs = performance.now();
    await enter(world, "a", () => undefined, options);
    const isFree = performance.now() - beganMs >= KEPT_MS - EARLY_MS;
    // Where it was answered early, the backend keeps the lock, for other processes just as for this one.
    const others = lease === undefined ? world.locks : await lease.another();
    if (!isFree)
      await assert.rejects(others.withLock("a", world.mustNotRun, { timeout: 0 }), LockTimeoutError);
    assert.equal(await enter({ ...world, locks: others }, "a", () => "free"), "free");
  }),

  test("the provider tells the observer for how long it keeps a lock whose section has ended", async (world) => {
    const events: LockEvent[] = [];
    const observer = { notify: (event: LockEvent): void => void events.push(event) };
    await enter(world, "a", () => undefined, { lockAtLeastFor: 100, observer });
    const [kept, released] = events.slice(-2);
    assert.ok(kept?.type === "kept" && kept.forMs > 0 && kept.forMs <= 100, "it is kept for the rest");
    assert.equal(released?.type, "released");
    assert.equal(await enter(world, "a", () => "free"), "free");
  }),

  test("the provider refuses a time that is none, and locks nothing", async (world) => {
    for (const lockAtLeastFor of [-1, NaN, Infinity])
      await assert.rejects(enter(world, "a", world.mustNotRun, { lockAtLeastFor }), RangeError);
    assert.equal(await enter(world, "a", () => "free"), "free");
  }),
];
