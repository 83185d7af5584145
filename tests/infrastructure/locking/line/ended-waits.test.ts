import { LockError, LockUnavailableError } from "../../../../src/application/ports/lock-errors";
import type { LockOptions } from "../../../../src/application/ports/lock-provider";
import type { LockTimeout } from "../../../../src/application/ports/lock-timeout";
import { LinedLockProvider } from "../../../../src/infrastructure/locking/line/lined-lock-provider";
import { FakeLockServer, type FakeLockBackend } from "../../../support/fakes/fake-lock-backend";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";

/** An error that ends a wait knows the wait: how long it was, what limited it, and whose limit that is. */
class EndedWaits {
  private readonly server = new FakeLockServer();
  private readonly clock = new VirtualLockClock();
  readonly backend: FakeLockBackend = this.server.backend();
  private readonly locks = new LinedLockProvider(this.backend, {
    timeouts: () => ({ timeout: this.timeout, source: "HOLDFAST_LOCK_TIMEOUT" }),
    clock: this.clock,
    random: () => 1,
  });

  constructor(private readonly timeout: LockTimeout) {}

  /** What a caller is told, after so long. */
  async told(advanceMs: number, options: LockOptions = {}): Promise<LockError> {
    const told = this.locks
      .withLock("a", async () => undefined, { scope: "task", ...options })
      .catch((error: unknown) => error);
    await this.clock.advance(advanceMs);
    const error = await told;
    expect(error).toBeInstanceOf(LockError);
    return error as LockError;
  }

  async somebodyInside(): Promise<void> {
    await this.server.backend("process-2").attempt("a", { purpose: "settlement", mayWait: false });
  }

  async somebodyWaiting(): Promise<void> {
    await this.server.backend("process-3").attempt("a", { mayWait: true });
  }
}

const limitOf = (seconds: number) => ({ timeout: seconds * 1_000, source: "HOLDFAST_LOCK_TIMEOUT" });

test("out of time", async () => {
  const waits = new EndedWaits(2_000);
  await waits.somebodyInside();
  const error = await waits.told(2_000);
  expect(error.code).toBe("lock_timeout");
  expect(error.wait).toEqual({ waitedMs: 2_000, limit: limitOf(2), scope: "task" });
  expect(error.message).toMatch(/the limit of 2 s comes from HOLDFAST_LOCK_TIMEOUT$/);
});

test("contended: another is waiting in the only place there is", async () => {
  const waits = new EndedWaits(0);
  await waits.somebodyInside();
  await waits.somebodyWaiting();
  const error = await waits.told(0);
  expect(error.code).toBe("lock_contended");
  expect(error.wait).toEqual({ waitedMs: 0, limit: limitOf(0), scope: "task" });
  expect(error.message).toContain("the limit of 0 s comes from HOLDFAST_LOCK_TIMEOUT; try again later");
});

test("cancelled", async () => {
  const waits = new EndedWaits(60_000);
  await waits.somebodyInside();
  const stop = new AbortController();
  setImmediate(() => stop.abort());
  const error = await waits.told(0, { signal: stop.signal });
  expect(error.code).toBe("wait_cancelled");
  expect(error.wait).toMatchObject({ limit: limitOf(60), scope: "task" });
  expect(error.message).toContain("(limit 60 s from HOLDFAST_LOCK_TIMEOUT)");
});

test.each([
  [
    "that fails",
    () => Promise.reject(new LockUnavailableError("a", "connection refused")),
    "connection refused",
  ],
  ["that is silent", () => new Promise<void>(() => {}), "no answer from fake"],
])("a backend %s, until the limit", async (_what, attempt, words) => {
  const waits = new EndedWaits(3_000);
  waits.backend.beforeAttempt = attempt;
  const error = await waits.told(3_000);
  expect(error.code).toBe("lock_unavailable");
  expect(error.wait).toEqual({ waitedMs: 3_000, limit: limitOf(3), scope: "task" });
  expect(error.message).toBe(
    `cannot lock a: ${words}; given up after 3 s (limit 3 s from HOLDFAST_LOCK_TIMEOUT)`,
  );
});

test("a backend that will not do better, before the limit: which nobody should raise", async () => {
  const waits = new EndedWaits(3_000);
  waits.backend.beforeAttempt = () =>
    Promise.reject(new LockUnavailableError("a", "403", { permanent: true }));
  const error = await waits.told(0);
  expect(error).toMatchObject({ code: "lock_unavailable", permanent: true, message: "cannot lock a: 403" });
  expect(error.wait).toEqual({ waitedMs: 0, limit: limitOf(3), scope: "task" });
});

test("each caller in line is told of its own wait, and not of a neighbour's", async () => {
  const waits = new EndedWaits(1_000);
  waits.backend.beforeAttempt = () => Promise.reject(new LockUnavailableError("a", "connection refused"));
  const [first, second] = await Promise.all([
    waits.told(1_000),
    waits.told(0, { timeout: { timeout: 500, source: "--lock-timeout" } }),
  ]);
  expect(first.wait?.limit).toEqual(limitOf(1));
  expect(second.wait?.limit).toEqual({ timeout: 500, source: "--lock-timeout" });
});
