import {
  describeHolder,
  LockCancelledError,
  LockContentionError,
  LockLostError,
  LockPermitsError,
  LockReentrancyError,
  LockTimeoutError,
  LockUnavailableError,
  waitFacts,
  whatToChange,
} from "../../../src/application/ports/lock-errors";
import { builtInLockTimeouts, isKnownScope } from "../../../src/application/ports/lock-timeout";
import { minimumHoldMs, restOfHoldMs } from "../../../src/infrastructure/locking/hold/minimum-hold";

const ID = "payment:1";
const since = new Date("2026-03-04T12:00:00.000Z");
const holder = { pid: 4711, host: "web-2", purpose: "deploy", since };
const HOLDER = "pid 4711 on web-2 (deploy) since 2026-03-04T12:00:00.000Z";
const set = { timeout: 2_500, source: "--lock-timeout" } as const;
const builtIn = { timeout: 10_000, source: 'built-in default of scope "payment"' } as const;

describe("who holds a lock", () => {
  test.each([
    [undefined, "another caller"],
    [holder, HOLDER],
    [{ pid: 1 }, "pid 1"],
    [{ ownerId: "o-1", host: "web-2" }, "o-1"],
    [{ purpose: "deploy" }, "another caller (deploy)"],
    [{ ownerId: "o-1", purpose: "a\n\u001b[31mb" }, "o-1 (a [31mb)"],
  ])("is told as far as it is known, in one line: %j", (known, words) => {
    expect(describeHolder(known)).toBe(words);
  });
});

describe("an error of a lock says what happened and what to do", () => {
  test("a wait that was too long names the holder and where its limit comes from", () => {
    const error = new LockTimeoutError(ID, 2_512, set, holder, "look at /locks/1", "payment");
    expect(error).toMatchObject({ name: "LockTimeoutError", code: "lock_timeout", resourceId: ID });
    expect(error.message).toBe(
      `waited 2.5 s for ${ID}, held by ${HOLDER}; the limit of 2.5 s comes from --lock-timeout; look at /locks/1`,
    );
    expect(error.wait).toEqual({ waitedMs: 2_512, limit: set, scope: "payment" });
  });

  test("a wait that was too long by a built-in limit says how to wait longer", () => {
    const error = new LockTimeoutError(ID, 10_000, builtIn);
    expect(error.message).toBe(
      `waited 10 s for ${ID}, held by another caller; the limit of 10 s comes from ${builtIn.source}; ` +
        "pass `timeout` to wait longer",
    );
    expect(error.wait).not.toHaveProperty("scope");
    expect(new LockTimeoutError(ID, 1, builtIn, undefined, "or else").message).toContain(
      "pass `timeout` to wait longer, or or else",
    );
  });

  test("a lock that is not waited for is locked", () => {
    const error = new LockTimeoutError(ID, 3, { timeout: 0, source: "the call" });
    expect(error.message).toBe(
      `${ID} is locked, held by another caller; the limit of 0 s comes from the call`,
    );
  });

  test("a place that another one has is told with who waits, and a limit only where it is to blame", () => {
    const words = (timeout: number) =>
      new LockContentionError(ID, "o\n2", holder, { waitedMs: 1, limit: { timeout, source: "the call" } });
    expect(words(5).message).toBe(
      `${ID} is held by ${HOLDER}, and o 2 is already waiting for it; try again later`,
    );
    expect(words(0).message).toBe(
      `${ID} is held by ${HOLDER}, and o 2 is already waiting for it; the limit of 0 s comes from the call; try again later`,
    );
    expect(words(0)).toMatchObject({ code: "lock_contended", waitingOwnerId: "o\n2", wait: { waitedMs: 1 } });
    expect(new LockContentionError(ID, "o").message).toContain("another caller, and o is already");
  });

  test("a wait that was cancelled names who did it, and the limit that it had", () => {
    const wait = { waitedMs: 1_234, limit: { timeout: "infinite", source: "the call" } } as const;
    expect(new LockCancelledError(ID, 1_234, wait).message).toBe(
      `stopped waiting for ${ID} after 1.2 s (limit infinite from the call): cancelled by the caller`,
    );
    const bySignal = new LockCancelledError(ID, 1_234, undefined, "SIG\nINT");
    expect(bySignal.message).toBe(`stopped waiting for ${ID} after 1.2 s: cancelled by SIG INT`);
    expect(bySignal).toMatchObject({ code: "wait_cancelled", waitedMs: 1_234, wait: undefined });
  });

  test("a lock that was lost, one that would wait for itself, and semaphores that disagree say so", () => {
    expect(new LockLostError(ID, "its lease ended")).toMatchObject({
      code: "lock_lost",
      message: `the lock on ${ID} was lost: its lease ended`,
    });
    expect(new LockReentrancyError(ID, ["a", "b"])).toMatchObject({
      code: "lock_reentrancy",
      message:
        `cannot take ${ID} while inside a, b: take all of them at once with withLocks, ` +
        "or, if this work only began inside and belongs elsewhere, begin it with detached",
    });
    expect(new LockPermitsError(ID, 3, 2, holder)).toMatchObject({
      code: "lock_permits",
      message:
        `cannot take ${ID} with 3 permits: it is used with 2, by ${HOLDER}; ` +
        "give all callers the same `permits`, or come back when no caller with 2 is inside any more",
    });
  });

  test("a backend that failed is told with the wait that was given up, unless asking again cannot help", () => {
    const wait = { waitedMs: 2_000, limit: set };
    const of = (options: ConstructorParameters<typeof LockUnavailableError>[2]) =>
      new LockUnavailableError(ID, "no route", options);
    expect(of(undefined)).toMatchObject({
      code: "lock_unavailable",
      permanent: false,
      reason: "no route",
      message: `cannot lock ${ID}: no route`,
    });
    expect(of({ wait }).message).toBe(
      `cannot lock ${ID}: no route; given up after 2 s (limit 2.5 s from --lock-timeout)`,
    );
    expect(of({ wait, permanent: true })).toMatchObject({
      permanent: true,
      message: `cannot lock ${ID}: no route`,
    });
  });

  test("the facts of a wait are in seconds, as its limit is set", () => {
    const wait = { waitedMs: 7, limit: set, scope: "payment" } as const;
    expect(waitFacts(wait)).toEqual({ waitedMs: 7, limit: 2.5, source: "--lock-timeout", scope: "payment" });
    const endless = { timeout: "infinite", source: "the call" } as const;
    expect(waitFacts({ waitedMs: 7, limit: endless })).toMatchObject({ limit: "infinite" });
    expect(whatToChange(endless, () => undefined)).toBe("the limit of infinite comes from the call");
  });
});

describe("the limits of a wait and of a hold", () => {
  test("the limits of a wait that nobody has set are those of its scope", () => {
    expect(builtInLockTimeouts("task")).toEqual({
      timeout: 0,
      source: 'built-in default of scope "task"',
    });
    expect(builtInLockTimeouts("sandbox").timeout).toBe(20_000);
    for (const scope of [undefined, "mine" as never]) {
      expect(builtInLockTimeouts(scope)).toEqual({ timeout: 600_000, source: "built-in default" });
      expect(isKnownScope(scope)).toBe(false);
    }
    expect(isKnownScope("payment")).toBe(true);
  });

  test.each([-1, Infinity, NaN])("a least hold of %d is refused in words", (lockAtLeastFor) => {
    expect(() => minimumHoldMs({ lockAtLeastFor })).toThrow(
      new RangeError(`lockAtLeastFor is ${lockAtLeastFor}: it takes milliseconds, from 0 on`),
    );
  });

  test("a least hold keeps what is left of it, and nothing of a lock that is lost or was taken in vain", () => {
    expect([
      minimumHoldMs({}),
      minimumHoldMs({ lockAtLeastFor: 0 }),
      minimumHoldMs({ lockAtLeastFor: 5 }),
    ]).toEqual([0, 0, 5]);
    expect([restOfHoldMs({}, 100, 40), restOfHoldMs({}, 100, 140)]).toEqual([60, 0]);
    expect(restOfHoldMs({}, 100, 40, AbortSignal.abort())).toBe(0);
    expect(restOfHoldMs({}, 100, 40, new AbortController().signal)).toBe(60);
    const alongside = (hasBegun: boolean) => ({ alongside: { hasBegun: () => hasBegun } }) as never;
    expect([restOfHoldMs(alongside(false), 100, 40), restOfHoldMs(alongside(true), 100, 40)]).toEqual([
      0, 60,
    ]);
  });
});
