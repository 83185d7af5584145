/** How long a caller is willing to wait for a lock: whole milliseconds (0 = one attempt), or without end. */
export type LockTimeout = number | "infinite";

/** What is being locked. Picks the default timeout and labels metrics; it is not part of the lock's name. */
export type LockScope = "payment" | "task" | "sandbox";

/** A timeout together with who set it, so that an error can say what to change. */
export interface ResolvedLockTimeout {
  readonly timeout: LockTimeout;
  /** In words a person can act on: `--lock-timeout`, `HOLDFAST_LOCK_TIMEOUT`, `[locking] timeout in holdfast.toml`, … */
  readonly source: string;
}

/** Decides the timeout of an acquisition that brings none of its own. */
export type LockTimeoutPolicy = (scope: LockScope | undefined) => ResolvedLockTimeout;

const SCOPE_DEFAULT_MS: Record<LockScope, number> = {
  // Longer than one pass through the gateway (find 2 s + send 6 s + saves 1 s), shorter than an HTTP request's 30 s.
  payment: 10_000,
  // A task that is running already is the expected answer, not a reason to queue.
  task: 0,
  // Outlasts a dead owner's lease of 15 s.
  sandbox: 20_000,
};

/** For callers that name no scope: long enough for any batch, still a bound. */
const GENERAL_DEFAULT_MS = 600_000;

/** The bottom of the precedence: what applies when nobody configured anything. */
export const builtInLockTimeouts: LockTimeoutPolicy = (scope) =>
  scope === undefined
    ? { timeout: GENERAL_DEFAULT_MS, source: "built-in default" }
    : { timeout: SCOPE_DEFAULT_MS[scope], source: `built-in default of scope "${scope}"` };
