import { inspect } from "node:util";
import type { LockTimeout, ResolvedLockTimeout } from "../../../application/ports/lock-timeout";

/** The limit that a caller brought along, or that a policy decided. Nonsense must not pass for "wait for ever". */
export function limitOf(given: LockTimeout | ResolvedLockTimeout): ResolvedLockTimeout {
  const limit = isNamed(given) ? given : { timeout: given, source: "the caller" };
  const { timeout } = limit;
  if (timeout !== "infinite" && !(Number.isFinite(timeout) && timeout >= 0))
    throw new RangeError(
      `a lock timeout is a number of milliseconds from 0, or "infinite"; ${limit.source} gave ${inspect(timeout)}`,
    );
  // Up: what is not 0 must not become a single attempt.
  return timeout === "infinite" || Number.isInteger(timeout)
    ? limit
    : { ...limit, timeout: Math.ceil(timeout) };
}

/** Errors name the source, some of them from a timer: a limit without one must not come that far. */
function isNamed(given: LockTimeout | ResolvedLockTimeout): given is ResolvedLockTimeout {
  if (typeof given === "number" || typeof given === "string") return false;
  const { source } = (given as Partial<ResolvedLockTimeout> | null | undefined) ?? {};
  if (typeof source === "string") return true;
  throw new TypeError(
    `a lock timeout is a number of milliseconds, "infinite", or { timeout, source } with a text that says who set it; ${inspect(given)} is none`,
  );
}
