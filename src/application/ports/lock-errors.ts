import type { LockHolder } from "./lock-provider";
import type { LockScope, ResolvedLockTimeout } from "./lock-timeout";

export type LockErrorCode =
  | "lock_timeout"
  | "lock_contended"
  | "wait_cancelled"
  | "lock_lost"
  | "lock_reentrancy"
  | "lock_unavailable"
  | "lock_permits";

/** A wait that an error has ended. */
export interface EndedWait {
  readonly waitedMs: number;
  readonly limit: ResolvedLockTimeout;
  readonly scope?: LockScope;
}

/** For programs; the limit in seconds, as it is set. */
export function waitFacts({ waitedMs, limit: { timeout, source }, scope }: EndedWait) {
  return { waitedMs, limit: timeout === "infinite" ? timeout : timeout / 1_000, source, scope };
}

/** Everything a lock can fail with. `code` is stable; the message is for people. */
export abstract class LockError extends Error {
  abstract readonly code: LockErrorCode;
  /** Of an error that ended a wait. */
  readonly wait: EndedWait | undefined;

  constructor(
    readonly resourceId: string,
    message: string,
    options?: ErrorOptions & { readonly wait?: EndedWait | undefined },
  ) {
    super(message, options);
    this.name = new.target.name;
    this.wait = options?.wait;
  }
}

/** The budget ran out while another holder was inside. */
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
    super(resourceId, timeoutInWords({ resourceId, waitedMs, limit, holder, advice }, adviseInCode), {
      wait: { waitedMs, limit, ...(scope === undefined ? {} : { scope }) },
    });
  }
}

/** A lease has one waiter's place, and a live waiter has it. */
export class LockContentionError extends LockError {
  readonly code = "lock_contended";

  constructor(
    resourceId: string,
    readonly waitingOwnerId: string,
    readonly holder?: LockHolder,
    wait?: EndedWait,
  ) {
    super(resourceId, contentionInWords({ resourceId, waitingOwnerId, holder, wait }, adviseInCode), {
      wait,
    });
  }
}

/** The caller's signal fired while it was waiting. */
export class LockCancelledError extends LockError {
  readonly code = "wait_cancelled";

  constructor(
    resourceId: string,
    readonly waitedMs: number,
    wait?: EndedWait,
    /** Who or what fired the signal, for the message. */
    by = "the caller",
  ) {
    const limit = wait === undefined ? "" : ` (${limitInWords(wait.limit)})`;
    super(
      resourceId,
      `stopped waiting for ${resourceId} after ${inSeconds(waitedMs)}${limit}: cancelled by ${plain(by)}`,
      { wait },
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

/** Callers disagree about how many may hold a semaphore at once: none of them can be right about who is kept out. */
export class LockPermitsError extends LockError {
  readonly code = "lock_permits";

  constructor(
    resourceId: string,
    /** What this caller wanted. */
    readonly permits: number,
    /** What is agreed upon, for as long as a holder is inside. */
    readonly agreed: number,
    readonly holder?: LockHolder,
  ) {
    super(resourceId, permitsInWords({ resourceId, permits, agreed, holder }, "`permits`"));
  }
}

/** The lock's backend failed. Says nothing about whether the lock is held. */
export class LockUnavailableError extends LockError {
  readonly code = "lock_unavailable";
  /** Asking again cannot help: refused credentials, a missing bucket, a wrong setting. Such an error ends a wait at once. */
  readonly permanent: boolean;

  constructor(
    resourceId: string,
    /** The message without what it is about. */
    readonly reason: string,
    options?: ErrorOptions & { readonly permanent?: boolean; readonly wait?: EndedWait },
  ) {
    const { permanent = false, wait } = options ?? {};
    // What is permanent ended the wait before its limit did.
    const givenUp =
      wait === undefined || permanent
        ? ""
        : `; given up after ${inSeconds(wait.waitedMs)} (${limitInWords(wait.limit)})`;
    super(resourceId, `cannot lock ${resourceId}: ${reason}${givenUp}`, options);
    this.permanent = permanent;
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
  return plain(`${who}${doing}${since}`);
}

/** Other people's words: with a line break or an escape sequence in them, they stay a line of text. */
function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ");
}

function describeLimit(limit: ResolvedLockTimeout): string {
  return limit.timeout === "infinite" ? "infinite" : inSeconds(limit.timeout);
}

function limitInWords(limit: ResolvedLockTimeout): string {
  return `limit ${describeLimit(limit)} from ${limit.source}`;
}

/** How to wait longer, for the readers of the message; undefined where there is nothing to say. */
export type LimitAdvice = (limit: ResolvedLockTimeout) => string | undefined;

/** For callers of `withLock`. A command has flags, and says so itself. */
const adviseInCode: LimitAdvice = ({ source }) =>
  source.startsWith("built-in default") ? "pass `timeout` to wait longer" : undefined;

type EndedByLimit = Pick<LockTimeoutError, "resourceId" | "waitedMs" | "limit"> & {
  readonly holder?: LockHolder | undefined;
  readonly advice?: string | undefined;
};

export function timeoutInWords(
  { resourceId, waitedMs, limit, holder, advice }: EndedByLimit,
  adviseOn: LimitAdvice,
): string {
  const waited =
    limit.timeout === 0 ? `${resourceId} is locked` : `waited ${inSeconds(waitedMs)} for ${resourceId}`;
  return `${waited}, held by ${describeHolder(holder)}; ${whatToChange(limit, adviseOn, advice)}`;
}

type EndedByContention = Pick<LockContentionError, "resourceId" | "waitingOwnerId"> & {
  readonly holder?: LockHolder | undefined;
  readonly wait?: EndedWait | undefined;
};

export function contentionInWords(
  { resourceId, waitingOwnerId, holder, wait }: EndedByContention,
  adviseOn: LimitAdvice,
): string {
  const later = "try again later";
  // The limit is to blame only for a caller that did not want to wait.
  const advice = wait?.limit.timeout === 0 ? whatToChange(wait.limit, adviseOn, later) : later;
  return `${resourceId} is held by ${describeHolder(holder)}, and ${plain(waitingOwnerId)} is already waiting for it; ${advice}`;
}

type Disagreement = Pick<LockPermitsError, "resourceId" | "permits" | "agreed"> & {
  readonly holder?: LockHolder | undefined;
};

/** `option`: what the reader has to change. */
export function permitsInWords(
  { resourceId, permits, agreed, holder }: Disagreement,
  option: string,
): string {
  return (
    `cannot take ${resourceId} with ${permits} permits: it is used with ${agreed}, by ${describeHolder(holder)}; ` +
    `give all callers the same ${option}, or come back when no caller with ${agreed} is inside any more`
  );
}

/** Where a limit comes from, and what to do there; `advice`: what else may help. */
export function whatToChange(limit: ResolvedLockTimeout, adviseOn: LimitAdvice, advice?: string): string {
  const ways = [adviseOn(limit), advice].filter((way) => way !== undefined).join(", or ");
  const comesFrom = `the limit of ${describeLimit(limit)} comes from ${limit.source}`;
  return ways === "" ? comesFrom : `${comesFrom}; ${ways}`;
}

function inSeconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(1))} s`;
}
