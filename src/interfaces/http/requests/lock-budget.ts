import type { Request } from "express";
import { budgets, longestHoldMs } from "../../../application/time-budgets";
import type { LockTimeoutPolicy, ResolvedLockTimeout } from "../../../application/ports/lock-timeout";

/** What a request's 30 s leave for waiting: once inside, it must still be able to finish. */
const HTTP_LOCK_BUDGET: ResolvedLockTimeout = {
  timeout: budgets.httpMs - longestHoldMs,
  source: "the time limit of an HTTP request",
};

/** The same for work that begins later in the request: what is left by then. */
export function whatIsLeftOf(budget: ResolvedLockTimeout, leftMs: number): ResolvedLockTimeout {
  return shorter(budget, { ...HTTP_LOCK_BUDGET, timeout: Math.max(0, Math.floor(leftMs)) });
}

/** RFC 7240: `wait=10`, perhaps among other preferences. */
const WAIT = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?=$|[,;])/i;

/** The shortest of what is configured, what the request leaves, and what its caller prefers. */
export function lockBudgetOf(request: Request, policy: LockTimeoutPolicy): ResolvedLockTimeout {
  const server = shorter(policy("payment"), HTTP_LOCK_BUDGET);
  const preferred = preferredWaitMs(request.headers["prefer"]);
  if (preferred === undefined) return server;
  return shorter(server, { timeout: preferred, source: "Prefer: wait" });
}

/** Undefined for what is malformed: a preference that is not understood is as good as none. */
function preferredWaitMs(header: string | string[] | undefined): number | undefined {
  const seconds = WAIT.exec(typeof header === "string" ? header : "")?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

function shorter(first: ResolvedLockTimeout, second: ResolvedLockTimeout): ResolvedLockTimeout {
  if (second.timeout === "infinite") return first;
  if (first.timeout === "infinite") return second;
  return second.timeout < first.timeout ? second : first;
}
