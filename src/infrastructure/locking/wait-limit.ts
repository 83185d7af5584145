import type { LockTimeout, ResolvedLockTimeout } from "../../application/ports/lock-timeout";

/** The limit that a caller brought along, or that a policy decided. Nonsense must not pass for "wait for ever". */
export function limitOf(given: LockTimeout | ResolvedLockTimeout): ResolvedLockTimeout {
  const limit = typeof given === "object" ? given : { timeout: given, source: "the caller" };
  const { timeout } = limit;
  if (timeout !== "infinite" && !(Number.isFinite(timeout) && timeout >= 0))
    throw new RangeError(
      `a lock timeout is a number of milliseconds from 0, or "infinite"; ${limit.source} gave ${String(timeout)}`,
    );
  return limit;
}
