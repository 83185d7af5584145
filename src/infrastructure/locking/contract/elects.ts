import { strict as assert } from "node:assert";
import { tryWithLock } from "../../../application/locking/try-with-lock";
import { LockLostError } from "../../../application/ports/lock-errors";
import type { LockProvider } from "../../../application/ports/lock-provider";
import { lead } from "../leadership/lead";
import type { Leadership } from "../leadership/leadership";
import { within, type LockContractTest, type LockContractWorld } from "./contract-test";
import { aWhile, heard } from "./steps";

const test = (name: string, run: (world: LockContractWorld) => Promise<void>): LockContractTest => ({
  layer: "elects",
  name,
  run,
});

/** Less than any lease leaves, and more than the end of the work takes here. */
const ENDING_MS = 100;

interface Candidate {
  /** Resolves when it leads. */
  readonly elected: Promise<Leadership>;
  /** Tells it to stop; resolves when its lock is given back. */
  readonly stop: () => Promise<void>;
}

function stand({ locks, onEnd }: { locks: LockProvider; onEnd: LockContractWorld["onEnd"] }): Candidate {
  const stopping = new AbortController();
  onEnd(() => stopping.abort());
  let over: Promise<void> | undefined;
  const elected = new Promise<Leadership>((resolve, reject) => {
    const work = async (leadership: Leadership): Promise<void> => {
      resolve(leadership);
      const { signal } = leadership;
      if (!signal.aborted) await new Promise((told) => signal.addEventListener("abort", told));
    };
    over = lead(locks, "a", work, { signal: stopping.signal, endingMs: ENDING_MS });
    over.catch(reject);
  });
  return {
    elected: heard(elected),
    stop: async () => {
      stopping.abort();
      await over;
    },
  };
}

export const elects: readonly LockContractTest[] = [
  test("the provider elects one leader at a time, and the next when that one is stopped", async (world) => {
    const { patienceMs, lease } = world;
    const others = lease === undefined ? world.locks : await lease.another();
    const first = stand(world);
    const leader = await within(patienceMs, first.elected);
    leader.assertHeld();
    const second = stand({ ...world, locks: others });
    await aWhile();
    assert.equal(await tryWithLock(world.locks, "a", world.mustNotRun), null);
    const stopped = first.stop();
    await within(patienceMs, stopped);
    assert.equal(leader.signal.aborted, true);
    assert.throws(() => leader.assertHeld(), LockLostError);
    const next = await within(patienceMs, second.elected);
    assert.ok(next.fencingToken > leader.fencingToken, "the next leader's token is greater");
    await second.stop();
  }),

  test("the provider ends a candidacy that is stopped before it is elected", async (world) => {
    const first = stand(world);
    await within(world.patienceMs, first.elected);
    const second = stand(world);
    await aWhile();
    await within(world.patienceMs, second.stop());
    await first.stop();
  }),
];
