import { strict as assert } from "node:assert";
import type { LockProvider } from "../../../application/ports/lock-provider";
import { within, type LockContractTest, type LockContractWorld } from "./contract-test";
import { heard, occupy } from "./steps";

/** How many signs of its wait a waiter gives, one a second, until it must stand in line: some stores take one change a second. */
const SIGNS = 3;

export const servesInTurn: readonly LockContractTest[] = [
  {
    layer: "serves in turn",
    name: "lets the waiters of several processes in, in the order of their coming, and no newcomer before them",
    run: async (world) => {
      const { lease } = world;
      assert.ok(lease !== undefined, '"serves in turn" needs `lease`');
      const order: string[] = [];
      const { leave } = await occupy(world, "a");
      const first = await lineUp(world, await lease.another(), () => order.push("first"));
      const second = await lineUp(world, await lease.another(), () => order.push("second"));
      const newcomer = await lease.another();
      await leave();
      const timeout = world.patienceMs;
      // Who has just been inside comes again, too.
      const others = [newcomer, world.locks].map((locks) =>
        heard(locks.withLock("a", async () => void order.push("newcomer"), { timeout })),
      );
      await within(timeout, Promise.all([first.done, second.done, ...others]));
      assert.deepEqual(order, ["first", "second", "newcomer", "newcomer"]);
    },
  },
];

/** Resolves when the caller has waited for a while. */
async function lineUp(
  { patienceMs }: LockContractWorld,
  locks: LockProvider,
  inside: () => void,
): Promise<{ readonly done: Promise<void> }> {
  let signs = 0;
  let done: Promise<void> | undefined;
  const waits = new Promise<void>((resolve) => {
    const observer = {
      notify: ({ type }: { readonly type: string }) => {
        if (type === "progressed") signs += 1;
        if (signs === SIGNS) resolve();
      },
    };
    done = heard(locks.withLock("a", async () => inside(), { timeout: patienceMs, observer }));
  });
  await within(patienceMs, waits);
  return { done: done ?? Promise.resolve() };
}
