import type { LockHold, LockOptions, LockProvider } from "./ports/lock-provider";

/**
 * Lends several locks at once: each id once, in one order for all callers (by code unit), so that no two callers can
 * wait for each other; released in reverse. The timeout is one budget for all of them. Rejects with `LockLostError` if
 * one of them is lost before the section has begun: a section that has begun is told by its holds, as everywhere.
 */
export async function withLocks<T>(
  provider: LockProvider,
  resourceIds: Iterable<string>,
  criticalSection: (holds: ReadonlyMap<string, LockHold>) => T | PromiseLike<T>,
  options: LockOptions = {},
): Promise<T> {
  const ids = [...new Set(resourceIds)].sort();
  const holds = new Map<string, LockHold>();
  let waitedMs = 0;

  const enterFrom = async (index: number): Promise<T> => {
    // The wait for this one may have outlived the lock before it.
    for (const held of holds.values()) held.assertHeld();
    const id = ids[index];
    if (id === undefined) return criticalSection(holds);
    const enter = (hold: LockHold): Promise<T> => {
      holds.set(id, hold);
      waitedMs += hold.waitedMs;
      return enterFrom(index + 1);
    };
    return provider.withLock(id, enter, { ...options, alongside: { holds, waitedMs } });
  };
  return enterFrom(0);
}
