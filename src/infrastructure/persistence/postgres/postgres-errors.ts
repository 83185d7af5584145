import { StoreUnavailableError, type StoreTrouble } from "../../../application/ports/payment-repository";
import { ConstraintViolationError } from "../sql/sql-database";

/** SQLSTATE: check and unique violation. */
const REFUSED_BY_SCHEMA = new Set(["23514", "23505"]);
/** SQLSTATE: serialization failure, deadlock, another's row lock not given up in time. The statement was undone as a whole. */
const UNDONE_FOR_OTHERS = new Set(["40001", "40P01", "55P03"]);
/** SQLSTATE classes: connection exception, operator intervention but for a cancelled statement. */
const CONNECTION_LOST = /^(?:08...|57P0.)$/;
/** SQLSTATEs that tell what keeps the server from writing: a standby or a read-only default, disk, damage (which a failover ends). */
const TROUBLES: ReadonlyMap<string, StoreTrouble> = new Map([
  ["25006", "read_only"],
  ["53100", "full"],
  ["58030", "disk_error"],
  ["XX001", "disk_error"],
  ["XX002", "disk_error"],
]);
/**
 * SQLSTATE: a statement that was cancelled. It was undone, unless the cancellation came between its commit and the word
 * of it.
 */
const CANCELLED = "57014";
const SQLSTATE = /^[0-9A-Z]{5}$/;

interface DriverError {
  readonly code?: unknown;
  readonly constraint?: unknown;
  readonly message?: unknown;
}

/** No connection could be had: the statement never left this process. */
export class NotSentError extends Error {
  override readonly name = "NotSentError";
  readonly code: unknown;

  constructor(error: unknown) {
    super(String((error as DriverError | null)?.message), { cause: error });
    this.code = (error as DriverError | null)?.code;
  }
}

export function isUndoneForOthers(error: unknown): boolean {
  return UNDONE_FOR_OTHERS.has(codeOf(error));
}

/** True if the answer never came: what was sent may have been done, be under way, or never have arrived. */
export function isConnectionLost(error: unknown): boolean {
  const code = codeOf(error);
  return CONNECTION_LOST.test(code) || !SQLSTATE.test(code);
}

/** Turns what the driver throws into what the store's callers know. */
export function translatePostgresError(error: unknown, mayWrite = true): Error {
  const { constraint, message } = error as DriverError;
  if (REFUSED_BY_SCHEMA.has(codeOf(error))) {
    return new ConstraintViolationError(typeof constraint === "string" ? constraint : "unnamed", {
      cause: error,
    });
  }
  return new StoreUnavailableError(`PostgreSQL does not answer: ${String(message)}`, {
    cause: error,
    reason: TROUBLES.get(codeOf(error)) ?? "no_answer",
    outcome: mayWrite && mayHaveBeenDone(error) ? "unknown" : "none",
  });
}

function mayHaveBeenDone(error: unknown): boolean {
  if (error instanceof NotSentError) return false;
  return isConnectionLost(error) || codeOf(error) === CANCELLED;
}

function codeOf(error: unknown): string {
  const code = (error as DriverError | null)?.code;
  return typeof code === "string" ? code : "";
}
