import { LockContentionError, LockTimeoutError } from "../ports/lock-errors";
import type { LockHold, LockOptions, LockProvider } from "../ports/lock-provider";
import type { LockHolds } from "./lock-holds";
import { withLocks } from "./with-locks";

/** What a section may give back where null means that it did not run. */
export type NotNull = NonNullable<unknown> | undefined | void;

/**
 * As `withLock`, but resolves with null, without having run the section, if another holder is inside and stays there for
 * `options.timeout` (here 0 unless it is given). All other errors stay errors: a backend that does not answer
 * (`LockUnavailableError`) says nothing about a holder.
 */
export function tryWithLock<T extends NotNull>(
  provider: LockProvider,
  resourceId: string,
  criticalSection: (hold: LockHold) => T | PromiseLike<T>,
  options: LockOptions = {},
): Promise<T | null> {
  return nullIfHeld(criticalSection, (section) =>
    provider.withLock(resourceId, section, { timeout: 0, ...options }),
  );
}

/** As `withLocks`; null, without having run the section, if one of the ids has another holder. */
export function tryWithLocks<T extends NotNull>(
  provider: LockProvider,
  resourceIds: Iterable<string>,
  criticalSection: (holds: LockHolds) => T | PromiseLike<T>,
  options: LockOptions = {},
): Promise<T | null> {
  return nullIfHeld(criticalSection, (section) =>
    withLocks(provider, resourceIds, section, { timeout: 0, ...options }),
  );
}

type Section<Inside, T> = (inside: Inside) => T | PromiseLike<T>;

async function nullIfHeld<Inside, T>(
  section: Section<Inside, T>,
  lend: (section: Section<Inside, T>) => Promise<T>,
): Promise<T | null> {
  const seen = { hasBegun: false };
  try {
    return await lend((inside) => {
      seen.hasBegun = true;
      return section(inside);
    });
  } catch (error) {
    // A section may well fail with such an error of its own, about another lock.
    if (!seen.hasBegun && (error instanceof LockTimeoutError || error instanceof LockContentionError))
      return null;
    throw error;
  }
}
