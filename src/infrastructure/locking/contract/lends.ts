import { strict as assert } from "node:assert";
import { withLocks } from "../../../application/locking/with-locks";
import {
  LockCancelledError,
  LockLostError,
  LockReentrancyError,
} from "../../../application/ports/lock-errors";
import type { LockEvent } from "../../../application/ports/lock-observer";
import type { LockHold } from "../../../application/ports/lock-provider";
import type { LockContractTest, LockContractWorld } from "./contract-test";
import { enter, LITERAL_IDS } from "./steps";

const test = (name: string, run: (world: LockContractWorld) => Promise<void>): LockContractTest => ({
  layer: "lends",
  name,
  run,
});

const own = new Error("the section's own");

export const lends: readonly LockContractTest[] = [
  test("the provider gives back the section's own value, and runs it once", async (world) => {
    const value = {};
    let runs = 0;
    const section = async (): Promise<object> => {
      runs += 1;
      return value;
    };
    assert.equal(await enter(world, "a", section), value);
    assert.equal(runs, 1);
  }),

  test("the provider runs a section that is not asynchronous, and gives back its value", async (world) => {
    assert.equal(await enter(world, "a", () => 42), 42);
    assert.equal(await enter(world, "a", () => undefined), undefined);
  }),

  test("the provider gives back the section's own error, unchanged", async (world) => {
    await assert.rejects(
      enter(world, "a", () => Promise.reject(own)),
      (error) => error === own,
    );
  }),

  test("the provider turns a synchronous throw into a rejection with that very error", async (world) => {
    const throwing = (): Promise<never> => {
      throw own;
    };
    await assert.rejects(enter(world, "a", throwing), (error) => error === own);
  }),

  test("the provider releases after a normal end, a rejection and a synchronous throw alike", async (world) => {
    await enter(world, "a", async () => 1);
    await assert.rejects(enter(world, "a", () => Promise.reject(own)));
    const throwing = (): Promise<never> => {
      throw own;
    };
    await assert.rejects(enter(world, "a", throwing), (error) => error === own);
    assert.equal(await enter(world, "a", async () => "free"), "free");
  }),

  test("the provider tells the section its id, and that it holds the lock", async (world) => {
    await enter(world, "a", async (hold) => {
      assert.equal(hold.resourceId, "a");
      assert.ok(Number.isInteger(hold.waitedMs) && hold.waitedMs >= 0, "waitedMs is in whole milliseconds");
      assert.equal(hold.signal.aborted, false);
      hold.assertHeld();
    });
  }),

  test("the provider says in assertHeld that the lock is lost once the section has ended", async (world) => {
    const hold = await enter(world, "a", async (kept) => kept);
    assert.throws(() => hold.assertHeld(), LockLostError);
  }),

  test("the provider hands out fencing tokens that grow with each acquisition of an id", async (world) => {
    let previous = -1n;
    for (let n = 0; n < 5; n += 1) {
      const token = await enter(world, "a", async (hold) => hold.fencingToken);
      assert.ok(token > previous, `${token} came after ${previous}`);
      previous = token;
    }
  }),

  test("the provider lends any id: any case, length, path, space and character", async (world) => {
    for (const id of LITERAL_IDS) {
      const named = await enter(world, id, async (hold) => hold.resourceId);
      assert.equal(named, id);
    }
  }),

  test("the provider refuses to lend from inside one of its holds, the same id and others, however deep the call", async (world) => {
    await enter(world, "a", async () => {
      await assert.rejects(enter(world, "a", world.mustNotRun), LockReentrancyError);
      await new Promise((resolve) => setImmediate(resolve));
      await assert.rejects(enter(world, "b", world.mustNotRun), LockReentrancyError);
    });
    assert.equal(await enter(world, "b", async () => "free"), "free");
  }),

  test("the provider lends again to work that a section left behind, once that section has ended", async (world) => {
    let end!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    // The promise is carried in an object, or the section would wait for it.
    const { detached } = await enter(world, "a", async () => ({
      detached: ended.then(() => enter(world, "a", async () => "later")),
    }));
    end();
    assert.equal(await detached, "later");
  }),

  test("the provider lends several ids at once through withLocks, each once", async (world) => {
    const { locks, patienceMs } = world;
    const ids = await withLocks(
      locks,
      ["b", "a", "b"],
      async (holds) => {
        for (const hold of holds.values()) hold.assertHeld();
        return [...holds.keys()];
      },
      { timeout: patienceMs },
    );
    assert.deepEqual(ids, ["a", "b"]);
    assert.equal(await enter(world, "b", async () => "free"), "free");
  }),

  test("the provider never begins the section of a caller who was cancelled before", async (world) => {
    await assert.rejects(
      enter(world, "a", world.mustNotRun, { signal: AbortSignal.abort() }),
      LockCancelledError,
    );
    assert.equal(await enter(world, "a", async () => "free"), "free");
  }),

  test("the provider ignores the caller's signal once the section has begun", async (world) => {
    const stop = new AbortController();
    const section = async (hold: LockHold): Promise<string> => {
      stop.abort();
      await new Promise((resolve) => setImmediate(resolve));
      hold.assertHeld();
      return "finished";
    };
    assert.equal(await enter(world, "a", section, { signal: stop.signal }), "finished");
  }),

  test("the provider tells the observer who acquired and released what, and lets nothing it throws through", async (world) => {
    const events: LockEvent[] = [];
    const notify = (event: LockEvent): void => {
      events.push(event);
      throw new Error("the observer's own");
    };
    const options = { scope: "payment", purpose: "capture", observer: { notify } } as const;
    const token = await enter(world, "a", async (hold) => hold.fencingToken, options);
    const acquired = events.find(({ type }) => type === "acquired");
    assert.ok(acquired?.type === "acquired" && acquired.fencingToken === token);
    const { resourceId, scope, purpose } = acquired;
    assert.deepEqual(
      { resourceId, scope, purpose },
      { resourceId: "a", scope: "payment", purpose: "capture" },
    );
    assert.equal(events.at(-1)?.type, "released");
  }),
];
