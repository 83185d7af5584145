import type { LockHold, LockOptions, LockProvider } from "../ports/lock-provider";
import { LockHolds } from "./lock-holds";

/**
 * Lends several locks at once: each id once, in one order for all callers (by code unit), so that no two callers can
 * wait for each other; released in reverse. The timeout is one budget for all of them. Rejects with `LockLostError` if
 * one of them is lost before the section has begun: a section that has begun is told by its holds, as everywhere.
 */
export async function withLocks<T>(
  provider: LockProvider,
  resourceIds: Iterable<string>,
  criticalSection: (holds: LockHolds) => T | PromiseLike<T>,
  options: LockOptions = {},
): Promise<T> {
  const ids = [...new Set(resourceIds)].sort();
  const holds = new LockHolds();
  let waitedMs = 0;
  let isInside = false;
  const hasBegun = (): boolean => isInside;

  const enterFrom = async (index: number): Promise<T> => {
    // The wait for this one may have outlived the lock before it.
    holds.assertHeld();
    const id = ids[index];
    if (id === undefined) {
      isInside = true;
      return criticalSection(holds);
    }
    const enter = (hold: LockHold): Promise<T> => {
      holds.set(id, hold);
      waitedMs += hold.waitedMs;
      return enterFrom(index + 1);
    };
    return provider.withLock(id, enter, { ...options, alongside: { holds, waitedMs, hasBegun } });
  };
  return enterFrom(0);
}
