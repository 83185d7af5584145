import type { LockHold, LockHolder, LockOptions, LockProvider } from "../ports/lock-provider";
import type { LockHolds } from "./lock-holds";
import { tryWithLock, tryWithLocks } from "./try-with-lock";
import { withLocks } from "./with-locks";

/** What gives locks back: `await using` does it at the end of its block, `release` where that syntax is missing. */
export interface Releasable {
  /** Any number of times. Resolves as `withLock` would: after the confirmed release only with `release: "await"`. */
  release(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** One lock, held until it is released. */
export interface HeldLock extends LockHold, Releasable {}

/** Several locks, held until they are released together. */
export interface HeldLocks extends Releasable, Pick<LockHolds, "signal" | "assertHeld" | "aloneForMs"> {
  /** By id. */
  readonly holds: LockHolds;
}

/**
 * Takes a lock where a callback does not fit. It is the same loan as `withLock`'s, whose section ends with `release`:
 * the same line, limits, errors, loss signal and fencing token. What no section can do for it: a handle that is never
 * released holds its lock until the process ends, and what is locked while it is held is not recognized as re-entry,
 * because a handle belongs to no chain of calls. Several locks go through `acquireLocks`.
 */
export async function acquireLock(
  provider: LockProvider,
  resourceId: string,
  options: LockOptions = {},
): Promise<HeldLock> {
  const stay = await stayInside<LockHold>((section) => provider.withLock(resourceId, section, options));
  return new LockHandle(stay.inside, stay.leave);
}

/** As `acquireLock`; null if another holder is inside, as `tryWithLock`. */
export async function tryAcquireLock(
  provider: LockProvider,
  resourceId: string,
  options: LockOptions = {},
): Promise<HeldLock | null> {
  const stay = await stayInside<LockHold>((section) => tryWithLock(provider, resourceId, section, options));
  return stay && new LockHandle(stay.inside, stay.leave);
}

/** As `acquireLock`, of several ids at once, in the order of `withLocks`. */
export async function acquireLocks(
  provider: LockProvider,
  resourceIds: Iterable<string>,
  options: LockOptions = {},
): Promise<HeldLocks> {
  const stay = await stayInside<LockHolds>((section) => withLocks(provider, resourceIds, section, options));
  return new LocksHandle(stay.inside, stay.leave);
}

/** As `acquireLocks`; null if one of the ids has another holder. */
export async function tryAcquireLocks(
  provider: LockProvider,
  resourceIds: Iterable<string>,
  options: LockOptions = {},
): Promise<HeldLocks | null> {
  const lend = (section: Section<LockHolds>) => tryWithLocks(provider, resourceIds, section, options);
  const stay = await stayInside<LockHolds>(lend);
  return stay && new LocksHandle(stay.inside, stay.leave);
}

type Section<Inside> = (inside: Inside) => Promise<undefined>;

interface Stay<Inside> {
  readonly inside: Inside;
  readonly leave: () => Promise<void>;
}

/** Enters a section that ends when it is told to. Null where the lender resolves without having entered it. */
function stayInside<Inside>(lend: (section: Section<Inside>) => Promise<undefined>): Promise<Stay<Inside>>;
function stayInside<Inside>(
  lend: (section: Section<Inside>) => Promise<undefined | null>,
): Promise<Stay<Inside> | null>;
function stayInside<Inside>(
  lend: (section: Section<Inside>) => Promise<undefined | null>,
): Promise<Stay<Inside> | null> {
  return new Promise((resolve, reject) => {
    const lent = lend(
      (inside) =>
        new Promise((letGo) => {
          const leave = async (): Promise<void> => {
            letGo(undefined);
            await lent;
          };
          resolve({ inside, leave });
        }),
    );
    lent.then(() => resolve(null), reject);
  });
}

class LockHandle implements HeldLock {
  declare readonly waitedFor?: LockHolder;
  declare readonly slot?: number;
  readonly resourceId: string;
  readonly waitedMs: number;

  constructor(
    private readonly hold: LockHold,
    readonly release: () => Promise<void>,
  ) {
    this.resourceId = hold.resourceId;
    this.waitedMs = hold.waitedMs;
    if (hold.slot !== undefined) this.slot = hold.slot;
    if (hold.waitedFor !== undefined) this.waitedFor = hold.waitedFor;
  }

  get fencingToken(): bigint {
    return this.hold.fencingToken;
  }

  get signal(): AbortSignal {
    return this.hold.signal;
  }

  assertHeld(): void {
    this.hold.assertHeld();
  }

  aloneForMs(): number {
    return this.hold.aloneForMs();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

class LocksHandle implements HeldLocks {
  constructor(
    readonly holds: LockHolds,
    readonly release: () => Promise<void>,
  ) {}

  get signal(): AbortSignal {
    return this.holds.signal;
  }

  assertHeld(): void {
    this.holds.assertHeld();
  }

  aloneForMs(): number {
    return this.holds.aloneForMs();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}
