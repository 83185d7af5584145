import { budgets } from "../time-budgets";

/** How long a caller is willing to wait for a lock: whole milliseconds (0 = one attempt), or without end. */
export type LockTimeout = number | "infinite";

/** The scopes with a limit of their own. */
export type KnownLockScope = "payment" | "task" | "sandbox";

/**
 * What is being locked: one of the known scopes, or a name of your own. Picks the default timeout and labels metrics, so
 * there should be few; it is not part of the lock's name.
 */
export type LockScope = KnownLockScope | (string & Record<never, never>);

/** A timeout together with who set it, so that an error can say what to change. */
export interface ResolvedLockTimeout {
  readonly timeout: LockTimeout;
  /** In words a person can act on: `--lock-timeout`, `HOLDFAST_LOCK_TIMEOUT`, `[locking] timeout in holdfast.toml`, … */
  readonly source: string;
}

/** Decides the timeout of an acquisition that brings none of its own. */
export type LockTimeoutPolicy = (scope: LockScope | undefined) => ResolvedLockTimeout;

const SCOPE_DEFAULT_MS: Readonly<Record<KnownLockScope, number>> = {
  payment: budgets.lockWaitMs,
  // A task that is running already is the expected answer, not a reason to queue.
  task: 0,
  // Outlasts a dead owner's lease of 15 s.
  sandbox: 20_000,
};

/** For callers that name no scope, or one of their own: long enough for any batch, still a bound. */
const GENERAL_DEFAULT_MS = 600_000;

/** The bottom of the precedence: what applies when nobody configured anything. */
export const builtInLockTimeouts: LockTimeoutPolicy = (scope) =>
  isKnownScope(scope)
    ? { timeout: SCOPE_DEFAULT_MS[scope], source: `built-in default of scope "${scope}"` }
    : { timeout: GENERAL_DEFAULT_MS, source: "built-in default" };

export function isKnownScope(scope: LockScope | undefined): scope is KnownLockScope {
  return scope !== undefined && Object.hasOwn(SCOPE_DEFAULT_MS, scope);
}
