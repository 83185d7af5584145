import { acquireLock, acquireLocks, tryAcquireLock } from "../../../src/application/locking/acquire-lock";
import { tryWithLock } from "../../../src/application/locking/try-with-lock";
import { LockUnavailableError } from "../../../src/application/ports/lock-errors";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import { LinedLockProvider } from "../../../src/infrastructure/locking/line/lined-lock-provider";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { FakeLockServer } from "../../support/fakes/fake-lock-backend";

describe("a handle", () => {
  it("a handle is given back at the end of its block by `await using`, also when the block throws", async () => {
    const locks = new MemoryLockProvider();
    const own = new Error("the block's own");
    const block = async (): Promise<void> => {
      await using lock = await acquireLock(locks, "a");
      expect(locks.size).toBe(1);
      lock.assertHeld();
      throw own;
    };
    await expect(block()).rejects.toBe(own);
    expect(locks.size).toBe(0);
  });

  it("a handle that could not be had is null, which `await using` takes for nothing", async () => {
    const locks = new MemoryLockProvider();
    await using first = await tryAcquireLock(locks, "a");
    await using second = await tryAcquireLock(locks, "a");
    expect([first?.resourceId, second]).toEqual(["a", null]);
  });

  it("a handle that waited says for how long and for whom", async () => {
    const locks = new MemoryLockProvider();
    const first = await acquireLock(locks, "a", { purpose: "first" });
    const second = acquireLock(locks, "a");
    await new Promise((resolve) => setTimeout(resolve, 20));
    await first.release();
    expect((await second).waitedFor).toMatchObject({ purpose: "first" });
    expect((await second).waitedMs).toBeGreaterThan(0);
    await (await second).release();
    expect(locks.size).toBe(0);
  });

  it("several handles are lost together: one signal names the lock that is lost", async () => {
    const server = new FakeLockServer();
    const locks = new LinedLockProvider(server.backend());
    const both = await acquireLocks(locks, ["a", "b"]);
    const reasons: unknown[] = [];
    both.signal.addEventListener("abort", () => reasons.push(both.signal.reason));
    server.expire("b");
    expect(reasons).toEqual([expect.stringMatching(/^b: /)]);
    await both.release();
    await locks.close();
  });
});

describe("a try", () => {
  it("a try is rejected when the backend does not answer: that says nothing of a holder", async () => {
    const locks: LockProvider = {
      withLock: (id) => Promise.reject(new LockUnavailableError(id, "no answer", { permanent: true })),
    };
    await expect(tryWithLock(locks, "a", () => "in")).rejects.toThrow(LockUnavailableError);
    await expect(tryAcquireLock(locks, "a")).rejects.toThrow(LockUnavailableError);
  });
});
