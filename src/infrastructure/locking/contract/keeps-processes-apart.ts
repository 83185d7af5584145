import { strict as assert } from "node:assert";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LockTimeoutError } from "../../../application/ports/lock-errors";
import type { LockContractTest } from "./contract-test";
import { countOneMore } from "./children/lock-child";
import { testWithChildren } from "./children/with-children";
import { enter, heard, occupy } from "./steps";

const test = testWithChildren("keeps processes apart");

const TIMES = 25;

export const keepsProcessesApart: readonly LockContractTest[] = [
  test("the provider serializes sections of one id in several processes: of their counting, nothing is lost", async (world) => {
    const folder = await mkdtemp(join(tmpdir(), "lock-contract-"));
    try {
      const file = join(folder, "count");
      await writeFile(file, "0");
      const children = [world.start(), world.start()];
      // All are up and running before anybody counts, or they would count one after the other by themselves.
      for (const child of children) {
        await child.enter("up and running");
        await child.leave("up and running");
      }
      const ours = Array.from({ length: TIMES }, () => enter(world, "a", () => countOneMore(file)));
      const theirs = children.map((child) => heard(child.count("a", file, TIMES)));
      await Promise.all([...ours, ...theirs]);
      assert.equal(await readFile(file, "utf8"), String(3 * TIMES));
    } finally {
      await rm(folder, { recursive: true });
    }
  }),

  test("the provider lets two processes hold different ids at once", async (world) => {
    const child = world.start();
    await child.enter("a");
    assert.equal(await enter(world, "A", async () => "in"), "in");
    await child.leave("a");
  }),

  test("the provider refuses a single attempt while another process is inside, and lets it in afterwards", async (world) => {
    const child = world.start();
    await child.enter("a");
    await assert.rejects(world.locks.withLock("a", world.mustNotRun, { timeout: 0 }), LockTimeoutError);
    await child.leave("a");
    assert.equal(await enter(world, "a", async () => "in"), "in");
  }),

  test("the provider lets a waiting process in when we leave, with a greater fencing token", async (world) => {
    const { hold, leave } = await occupy(world, "a");
    const entering = heard(world.start().enter("a"));
    await leave();
    assert.ok((await entering) > hold.fencingToken);
  }),

  test("the provider leaves no trace of a waiter that timed out: another process gets in as if it had never come", async (world) => {
    const [holder, next] = [world.start(), world.start()];
    await holder.enter("a");
    // Long enough for one attempt on a busy machine: without an answer it would be an outage, not a timeout.
    const waiting = world.locks.withLock("a", world.mustNotRun, { timeout: 1_000 });
    await assert.rejects(waiting, (error) => error instanceof LockTimeoutError);
    await holder.leave("a");
    await next.enter("a");
    await next.leave("a");
  }),

  test("the provider comes free when its holder is killed inside, and counts on from its fencing token", async (world) => {
    const child = world.start();
    const token = await child.enter("a");
    const timeout = world.recoveryMs ?? 5_000;
    const entering = enter({ ...world, patienceMs: timeout }, "a", async (hold) => hold.fencingToken);
    await child.kill();
    assert.ok((await entering) > token);
  }),
];
