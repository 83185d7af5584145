import { withLocks } from "../../../src/application/locking/with-locks";
import {
  LockLostError,
  LockReentrancyError,
  LockTimeoutError,
} from "../../../src/application/ports/lock-errors";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { LinedLockProvider } from "../../../src/infrastructure/locking/line/lined-lock-provider";
import { FakeLockServer } from "../../support/fakes/fake-lock-backend";
import { Gate, settled } from "../../support/fakes/gate";
import { VirtualLockClock } from "../../support/fakes/virtual-lock-clock";

describe("withLocks", () => {
  it("withLocks takes each id once, in one order for everybody, and releases in reverse", async () => {
    const locks = new MemoryLockProvider();
    const steps: string[] = [];
    const recording: LockProvider = {
      withLock: (id, section, options) =>
        locks
          .withLock(id, (hold) => (steps.push(`+${id}`), section(hold)), options)
          .finally(() => steps.push(`-${id}`)),
    };
    const ids = await withLocks(recording, ["b", "a", "b", "B"], async (holds) => [...holds.keys()]);
    expect(ids).toEqual(["B", "a", "b"]);
    expect(steps).toEqual(["+B", "+a", "+b", "-b", "-a", "-B"]);
  });

  it("withLocks does not deadlock callers who name the same ids in different orders", async () => {
    const locks = new MemoryLockProvider();
    const sets = [
      ["a", "b", "c"],
      ["c", "b", "a"],
      ["b", "c", "a"],
    ];
    let inside = 0;
    await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        withLocks(locks, sets[n % 3]!, async () => {
          inside += 1;
          await settled();
          expect(inside).toBe(1);
          inside -= 1;
        }),
      ),
    );
    expect(locks.size).toBe(0);
  });

  it("withLocks spends one budget on all of its ids, and says how long it waited in all", async () => {
    const clock = new VirtualLockClock();
    const locks = new MemoryLockProvider({ clock });
    const [a, b] = [new Gate(), new Gate()];
    const holders = [locks.withLock("a", () => a.passed), locks.withLock("b", () => b.passed)];
    await settled();
    const both = withLocks(locks, ["a", "b"], async () => 1, { timeout: 1_000 });
    const failure = both.catch((error: unknown) => error);
    await clock.advance(700);
    a.open();
    await clock.advance(299);
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(1);
    expect(await failure).toBeInstanceOf(LockTimeoutError);
    expect(await failure).toMatchObject({ resourceId: "b", waitedMs: 1_000, limit: { timeout: 1_000 } });
    b.open();
    await Promise.all(holders);
    expect(locks.size).toBe(0);
  });

  it("withLocks cannot be nested, nor mixed with withLock", async () => {
    const locks = new MemoryLockProvider();
    await withLocks(locks, ["a", "b"], async () => {
      await expect(withLocks(locks, ["c"], async () => 1)).rejects.toThrow(LockReentrancyError);
      await expect(locks.withLock("a", async () => 1)).rejects.toThrow("cannot take a while inside a, b");
    });
  });

  it("withLocks gives back the section's value or error, with no id at all too", async () => {
    const locks = new MemoryLockProvider();
    const error = new Error("the section's own");
    await expect(withLocks(locks, [], async () => 1)).resolves.toBe(1);
    await expect(withLocks(locks, ["a", "b"], () => Promise.reject(error))).rejects.toBe(error);
    await expect(
      withLocks(locks, ["a", "b"], () => {
        throw error;
      }),
    ).rejects.toBe(error);
    expect(locks.size).toBe(0);
  });

  it("withLocks does not begin when an earlier lock was lost during the wait for a later one", async () => {
    const server = new FakeLockServer();
    const locks = new LinedLockProvider(server.backend());
    const others = new LinedLockProvider(server.backend("process-2"));
    const gate = new Gate();
    const inside = new Gate();
    const done = others.withLock("b", () => (inside.open(), gate.passed));
    await inside.passed;
    let began = false;
    const both = withLocks(locks, ["a", "b"], async () => void (began = true), { timeout: 5_000 });
    await settled();
    server.expire("a");
    gate.open();
    await expect(both).rejects.toBeInstanceOf(LockLostError);
    await done;
    expect(began).toBe(false);
    await Promise.all([locks.close(), others.close()]);
  });
});
