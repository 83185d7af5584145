import {
  InvalidLockTimeoutError,
  parseLockTimeout,
  resolveLockTimeouts,
  type LockTimeoutSources,
} from "../../../src/infrastructure/configuration/lock-timeouts";

/** Each place a timeout can be written, the strongest first, with what it says here. */
const PLACES: readonly { source: string; seconds: number; sources: LockTimeoutSources }[] = [
  { source: "--lock-timeout", seconds: 1, sources: { flag: "1", environment: {} } },
  {
    source: "HOLDFAST_LOCK_TIMEOUT_PAYMENT",
    seconds: 2,
    sources: { environment: { HOLDFAST_LOCK_TIMEOUT_PAYMENT: "2" } },
  },
  {
    source: "HOLDFAST_LOCK_TIMEOUT",
    seconds: 3,
    sources: { environment: { HOLDFAST_LOCK_TIMEOUT: "3" } },
  },
  {
    source: "[locking.scopes] payment in holdfast.toml",
    seconds: 4,
    sources: { environment: {}, file: { name: "holdfast.toml", scopes: { payment: 4 } } },
  },
  {
    source: "[locking] timeout in holdfast.toml",
    seconds: 5,
    sources: { environment: {}, file: { name: "holdfast.toml", timeout: 5 } },
  },
  { source: 'built-in default of scope "payment"', seconds: 10, sources: { environment: {} } },
];

function merged(a: LockTimeoutSources, b: LockTimeoutSources): LockTimeoutSources {
  const files = [a.file, b.file].filter((file) => file !== undefined);
  return {
    flag: a.flag ?? b.flag,
    environment: { ...a.environment, ...b.environment },
    ...(files.length > 0 && { file: Object.assign({ name: "" }, ...files) }),
  };
}

describe("the lock timeout", () => {
  const pairs = PLACES.flatMap((strong, index) => PLACES.slice(index + 1).map((weak) => ({ strong, weak })));

  it.each(pairs)("takes $strong.source before $weak.source", ({ strong, weak }) => {
    expect(resolveLockTimeouts(merged(strong.sources, weak.sources))("payment")).toEqual({
      timeout: strong.seconds * 1000,
      source: strong.source,
    });
  });

  it("takes a scope's own setting for that scope alone", () => {
    const policy = resolveLockTimeouts({
      environment: { HOLDFAST_LOCK_TIMEOUT_TASK: "infinite" },
      file: { name: "holdfast.toml", timeout: "7", scopes: { sandbox: 0 } },
    });
    expect(policy("task")).toEqual({ timeout: "infinite", source: "HOLDFAST_LOCK_TIMEOUT_TASK" });
    expect(policy("sandbox").timeout).toBe(0);
    expect(policy("payment").timeout).toBe(7_000);
    expect(policy(undefined).timeout).toBe(7_000);
  });

  it("falls back to the scope's built-in default, and to 600 s without a scope", () => {
    const policy = resolveLockTimeouts({ environment: {} });
    expect(policy("payment").timeout).toBe(10_000);
    expect(policy("task").timeout).toBe(0);
    expect(policy("sandbox").timeout).toBe(20_000);
    expect(policy(undefined)).toEqual({ timeout: 600_000, source: "built-in default" });
  });

  it.each([
    ["0", 0],
    ["1", 1_000],
    [30, 30_000],
    ["infinite", "infinite"],
  ])("reads %p", (given, timeout) => {
    expect(parseLockTimeout(given)).toBe(timeout);
  });

  it.each([
    "",
    " 1",
    "-1",
    "1.5",
    "1e3",
    "0x10",
    "soon",
    "Infinite",
    "9".repeat(20),
    -1,
    1.5,
    0.001,
    NaN,
    null,
    true,
    {},
    [],
  ])("does not read %p", (given) => {
    expect(parseLockTimeout(given)).toBeUndefined();
  });

  it("names every mistake with its source, all at once", () => {
    const read = () =>
      resolveLockTimeouts({
        flag: "soon",
        environment: { HOLDFAST_LOCK_TIMEOUT: "-1", HOLDFAST_LOCK_TIMEOUT_TASK: "" },
        file: { name: "holdfast.toml", timeout: 1.5, scopes: { payment: true, paymnt: 3 } },
      });
    expect(read).toThrow(InvalidLockTimeoutError);
    let mistakes: InvalidLockTimeoutError["mistakes"] = [];
    try {
      read();
    } catch (error) {
      mistakes = (error as InvalidLockTimeoutError).mistakes;
    }
    expect(mistakes.map(({ origin, source }) => [origin, source])).toEqual([
      ["file", "[locking.scopes] paymnt in holdfast.toml"],
      ["flag", "--lock-timeout"],
      ["environment", "HOLDFAST_LOCK_TIMEOUT_TASK"],
      ["environment", "HOLDFAST_LOCK_TIMEOUT"],
      ["file", "[locking.scopes] payment in holdfast.toml"],
      ["file", "[locking] timeout in holdfast.toml"],
    ]);
    expect(mistakes[1]?.message).toBe(
      '--lock-timeout: expected whole seconds from 0, or "infinite", got "soon"',
    );
  });
});
