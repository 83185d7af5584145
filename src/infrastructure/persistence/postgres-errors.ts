import { StoreUnavailableError } from "../../application/ports/payment-repository";
import { ConstraintViolationError } from "./sql-database";

/** SQLSTATE: check and unique violation. */
const REFUSED_BY_SCHEMA = new Set(["23514", "23505"]);
/** SQLSTATE: serialization failure, deadlock. The statement was undone as a whole. */
const UNDONE_FOR_OTHERS = new Set(["40001", "40P01"]);
/** SQLSTATE classes: connection exception, operator intervention but for a cancelled statement. */
const CONNECTION_LOST = /^(?:08...|57P0.)$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

interface DriverError {
  readonly code?: unknown;
  readonly constraint?: unknown;
  readonly message?: unknown;
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
export function translatePostgresError(error: unknown): Error {
  const { constraint, message } = error as DriverError;
  if (REFUSED_BY_SCHEMA.has(codeOf(error))) {
    return new ConstraintViolationError(typeof constraint === "string" ? constraint : "unnamed", {
      cause: error,
    });
  }
  return new StoreUnavailableError(`PostgreSQL does not answer: ${String(message)}`, { cause: error });
}

function codeOf(error: unknown): string {
  const code = (error as DriverError | null)?.code;
  return typeof code === "string" ? code : "";
}
