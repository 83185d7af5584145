import { strict as assert } from "node:assert";
import {
  LockCancelledError,
  LockTimeoutError,
  LockUnavailableError,
} from "../../../application/ports/lock-errors";
import type { LockOptions } from "../../../application/ports/lock-provider";
import type { LockContractTest, LockContractWorld } from "./contract-test";
import { enter, occupy } from "./steps";

/** What a single attempt may take: one request, or this. */
const SINGLE_ATTEMPT_MS = 2_000;
/** For a busy machine. */
const LATE_MS = 500;

interface World extends LockContractWorld {
  readonly silence: () => Promise<void> | void;
}

const test = (name: string, run: (world: World) => Promise<void>): LockContractTest => ({
  layer: "answers in time",
  name,
  run: async (world) => {
    assert.ok(world.silence !== undefined, '"answers in time" needs `silence`');
    await run({ ...world, silence: () => world.silence?.() });
  },
});

async function refusedWithin(world: World, limitMs: number, options: LockOptions): Promise<unknown> {
  const beganMs = performance.now();
  const refusal = await world.locks.withLock("a", world.mustNotRun, options).then(
    () => undefined,
    (error: unknown) => error,
  );
  const tookMs = performance.now() - beganMs;
  assert.ok(
    tookMs < limitMs + LATE_MS,
    `it took ${Math.round(tookMs)} ms to be refused within ${limitMs} ms`,
  );
  return refusal;
}

function heldOrUnavailable(refusal: unknown): void {
  assert.ok(
    refusal instanceof LockTimeoutError || refusal instanceof LockUnavailableError,
    `held or unavailable, and not ${String(refusal)}`,
  );
}

export const answersInTime: readonly LockContractTest[] = [
  test("the provider ends a single attempt after a short grace when the backend falls silent, and the next one, too", async (world) => {
    await enter(world, "a", async () => {});
    await world.silence();
    for (let attempt = 0; attempt < 2; attempt += 1)
      heldOrUnavailable(await refusedWithin(world, SINGLE_ATTEMPT_MS, { timeout: 0 }));
  }),

  test("the provider ends a single attempt after a short grace while a release of ours is under way", async (world) => {
    const { leave } = await occupy(world, "a");
    await world.silence();
    await leave();
    heldOrUnavailable(await refusedWithin(world, SINGLE_ATTEMPT_MS, { timeout: 0 }));
  }),

  test("the provider ends a wait at its limit, whatever the backend owes", async (world) => {
    await enter(world, "a", async () => {});
    await world.silence();
    heldOrUnavailable(await refusedWithin(world, 300, { timeout: 300 }));
  }),

  test("the provider ends a cancelled wait at once, whatever the backend owes", async (world) => {
    await enter(world, "a", async () => {});
    await world.silence();
    const cancel = new AbortController();
    setTimeout(() => cancel.abort(), 100);
    const refusal = await refusedWithin(world, 100, { timeout: world.patienceMs, signal: cancel.signal });
    assert.ok(refusal instanceof LockCancelledError, `cancelled, and not ${String(refusal)}`);
  }),
];
