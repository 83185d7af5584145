import type { LockHolder } from "./lock-provider";
import type { LockScope, ResolvedLockTimeout } from "./lock-timeout";

export type LockErrorCode =
  "lock_timeout" | "lock_contended" | "wait_cancelled" | "lock_lost" | "lock_reentrancy" | "lock_unavailable";

/** Everything a lock can fail with. `code` is stable; the message is for people. */
export abstract class LockError extends Error {
  abstract readonly code: LockErrorCode;

  constructor(
    readonly resourceId: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The budget ran out while somebody else was inside. */
export class LockTimeoutError extends LockError {
  readonly code = "lock_timeout";

  constructor(
    resourceId: string,
    readonly waitedMs: number,
    readonly limit: ResolvedLockTimeout,
    readonly holder?: LockHolder,
    /** What to do about it beyond waiting longer, e.g. which file to look at. */
    readonly advice?: string,
    readonly scope?: LockScope,
  ) {
    const waited =
      limit.timeout === 0 ? `${resourceId} is locked` : `waited ${inSeconds(waitedMs)} for ${resourceId}`;
    super(
      resourceId,
      [
        `${waited}, held by ${describeHolder(holder)}`,
        `the limit of ${describeLimit(limit)} comes from ${limit.source}`,
        [howToWaitLonger(limit), advice].filter((way) => way !== undefined).join(", or "),
      ]
        .filter((part) => part !== "")
        .join("; "),
    );
  }
}

/** A lease has one waiter's place, and a live waiter has it. */
export class LockContentionError extends LockError {
  readonly code = "lock_contended";

  constructor(
    resourceId: string,
    readonly waitingOwnerId: string,
    readonly holder?: LockHolder,
  ) {
    super(
      resourceId,
      `${resourceId} is held by ${describeHolder(holder)}, and ${waitingOwnerId} is already waiting for it; try again later`,
    );
  }
}

/** The caller's signal fired while it was waiting. */
export class LockCancelledError extends LockError {
  readonly code = "wait_cancelled";

  constructor(
    resourceId: string,
    readonly waitedMs: number,
  ) {
    super(
      resourceId,
      `stopped waiting for ${resourceId} after ${inSeconds(waitedMs)}: cancelled by the caller`,
    );
  }
}

/** The lock ended before its section did. Thrown by `hold.assertHeld()`, never by `withLock` itself. */
export class LockLostError extends LockError {
  readonly code = "lock_lost";

  constructor(
    resourceId: string,
    readonly reason: string,
  ) {
    super(resourceId, `the lock on ${resourceId} was lost: ${reason}`);
  }
}

/** Taken from inside a hold of the same provider: waiting could never end. */
export class LockReentrancyError extends LockError {
  readonly code = "lock_reentrancy";

  constructor(
    resourceId: string,
    readonly heldResourceIds: readonly string[],
  ) {
    super(
      resourceId,
      `cannot take ${resourceId} while inside ${heldResourceIds.join(", ")}: take all of them at once with withLocks, ` +
        "or, if this work only began inside and belongs elsewhere, begin it with detached",
    );
  }
}

/** The lock's backend failed. Says nothing about whether anybody holds the lock. */
export class LockUnavailableError extends LockError {
  readonly code = "lock_unavailable";
  /** Asking again cannot help: refused credentials, a missing bucket, a wrong setting. Such an error ends a wait at once. */
  readonly permanent: boolean;

  constructor(
    resourceId: string,
    /** The message without what it is about. */
    readonly reason: string,
    options?: ErrorOptions & { readonly permanent?: boolean },
  ) {
    super(resourceId, `cannot lock ${resourceId}: ${reason}`, options);
    this.permanent = options?.permanent ?? false;
  }
}

/** `pid 4711 on web-2 (deploy) since 2026-11-18T09:00:00.000Z`, as far as it is known. */
export function describeHolder(holder: LockHolder | undefined): string {
  if (holder === undefined) return "another caller";
  const who =
    holder.pid !== undefined
      ? `pid ${holder.pid}${holder.host === undefined ? "" : ` on ${holder.host}`}`
      : (holder.ownerId ?? "another caller");
  const doing = holder.purpose === undefined ? "" : ` (${holder.purpose})`;
  const since = holder.since === undefined ? "" : ` since ${holder.since.toISOString()}`;
  return `${who}${doing}${since}`;
}

function describeLimit(limit: ResolvedLockTimeout): string {
  return limit.timeout === "infinite" ? "infinite" : inSeconds(limit.timeout);
}

/** Whoever was asked by a source that outranks the others is told that one. Nothing, if only the caller can change it. */
function howToWaitLonger({ source }: ResolvedLockTimeout): string | undefined {
  if (source.startsWith("built-in default"))
    return "wait longer with --lock-timeout <seconds|infinite>, HOLDFAST_LOCK_TIMEOUT or [locking] timeout";
  if (source === "--lock-timeout") return "raise it there";
  if (/^(HOLDFAST_|\[locking)/.test(source))
    return "raise it there or with --lock-timeout <seconds|infinite>";
  return undefined;
}

function inSeconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`;
}
