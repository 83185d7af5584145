import { strict as assert } from "node:assert";
import { tryWithLock } from "../../../application/locking/try-with-lock";
import type { LockContractTest } from "./contract-test";
import { enter } from "./steps";
import { testWithChildren } from "./children/with-children";

const test = testWithChildren("outlasts its process");

/** Longer than the start of a process and any lease of a test take, and short enough to be waited for. */
const KEPT_MS = 6_000;

export const outlastsItsProcess: readonly LockContractTest[] = [
  test("the provider keeps others out until the time is over, although the holder has ended and its process is killed", async (world) => {
    const child = world.start();
    const token = await child.enter("a");
    await child.leave("a");
    const beganMs = performance.now();
    await child.keep("a", KEPT_MS);
    assert.ok(performance.now() - beganMs < KEPT_MS, "the process is needed no more before the time is over");
    await child.kill();
    assert.equal(await tryWithLock(world.locks, "a", world.mustNotRun), null);
    const next = await enter(world, "a", (hold) => hold.fencingToken);
    assert.ok(performance.now() - beganMs >= KEPT_MS, "the next holder came too early");
    assert.ok(next > token + 1n, "the next holder's token is greater than those before");
  }),
];
