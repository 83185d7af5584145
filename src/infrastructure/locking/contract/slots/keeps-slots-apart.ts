import { strict as assert } from "node:assert";
import { setTimeout as sleep } from "node:timers/promises";
import { LockPermitsError, LockTimeoutError } from "../../../../application/ports/lock-errors";
import type { LockContractTest, LockContractWorld } from "../contract-test";
import { testWithChildren } from "../children/with-children";
import { occupyAll } from "./lends-slots";
import { enter, heard, occupy } from "../steps";

const test = testWithChildren("keeps slots apart");

export const keepsSlotsApart: readonly LockContractTest[] = [
  test("the provider counts the holders of all processes", async (world) => {
    const permits = 2;
    const child = world.start();
    const theirs = await child.enter("a", world.patienceMs, permits);
    const { hold, leave } = await occupy(world, "a", { permits });
    assert.notEqual(hold.fencingToken, theirs, "no two holders get the same token");
    await assert.rejects(
      world.locks.withLock("a", world.mustNotRun, { permits, timeout: 0 }),
      LockTimeoutError,
    );
    const another = world.start();
    await assert.rejects(another.enter("a", 0, permits), { code: "lock_timeout" });
    const entering = enter(world, "a", () => "in", { permits });
    await child.leave("a");
    assert.equal(await entering, "in");
    await leave();
  }),

  test("the provider lets a waiting process in when any of the slots is given back", async (world) => {
    const permits = 2;
    const occupants = await occupyAll(world, permits);
    const [first, second] = occupants;
    for (const occupant of [first, second]) {
      const child = world.start();
      const entering = heard(child.enter("a", world.patienceMs, permits));
      // For a process to start, to look at every slot, and to find nothing to do.
      await assert.rejects(world.start().enter("a", 0, permits), { code: "lock_timeout" });
      await occupant?.leave();
      await entering;
      // It stays inside, so that the next one has to get the other slot.
    }
  }),

  test("the provider gets a slot back whose holder is killed, and no more than that", async (world) => {
    const permits = 2;
    const [killed, living] = [world.start(), world.start()];
    const tokens = [
      await killed.enter("a", world.patienceMs, permits),
      await living.enter("a", world.patienceMs, permits),
    ];
    const timeout = world.recoveryMs ?? 5_000;
    await killed.kill();
    const { hold, leave } = await occupy({ ...world, patienceMs: timeout }, "a", { permits });
    assert.ok(!tokens.includes(hold.fencingToken), "no two holders get the same token");
    await assert.rejects(
      world.locks.withLock("a", world.mustNotRun, { permits, timeout: 0 }),
      LockTimeoutError,
    );
    await leave();
  }),

  test("the provider tells two processes that disagree about the permits, and forgets a number that no holder uses", async (world) => {
    const child = world.start();
    await child.enter("a", world.patienceMs, 2);
    await assert.rejects(
      enter(world, "a", world.mustNotRun, { permits: 3 }),
      (error) => error instanceof LockPermitsError && error.permits === 3 && error.agreed === 2,
    );
    await child.leave("a");
    const { leave } = await onceReleased(world, () => occupy(world, "a", { permits: 3 }));
    await assert.rejects(child.enter("a", world.patienceMs, 2), { code: "lock_permits" });
    await leave();
    await onceReleased(world, () => child.enter("a", world.patienceMs, 2));
    await child.leave("a");
  }),
];

/** Who has left may still be giving its slot back, for a release is behind its answer. Until then its number is in use. */
async function onceReleased<T>(
  { patienceMs }: Pick<LockContractWorld, "patienceMs">,
  work: () => Promise<T>,
): Promise<T> {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (codeOf(error) !== "lock_permits" || performance.now() > untilMs) throw error;
      await sleep(10);
    }
  }
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code;
}
