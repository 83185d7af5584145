import { StoreUnavailableError, type StoreTrouble } from "../../../application/ports/payment-repository";
import { ConstraintViolationError } from "../sql/sql-database";

/** Extended result codes of SQLite: check, primary key, unique. */
const REFUSED_BY_SCHEMA = new Set([275, 1555, 2067]);
/** Primary result codes of SQLite that tell what keeps it from writing. */
const TROUBLES: ReadonlyMap<number, StoreTrouble> = new Map([
  [8, "read_only"],
  [10, "disk_error"],
  [11, "damaged"],
  [13, "full"],
  [26, "damaged"],
]);
/** In SQLite's words where the package leaves the code out. */
const DAMAGED = /malformed|not a database/;
/** `database is locked`: another process is writing. */
const BUSY = 5;
/** With `errcode`, and without: the package leaves it out where reading rows fails. */
const FROM_SQLITE = new Set<unknown>(["ERR_SQLITE_ERROR", "ERR_INVALID_STATE"]);

/** SQLite names the columns of a unique index, not the index. */
const constraintNames: Readonly<Record<string, string>> = {
  "operations.merchant_id, operations.idempotency_key": "one_payment_per_authorize_key",
  "payments.authorization_reference": "one_payment_per_authorization",
};

/**
 * Turns what the driver throws into what the store's callers know. By its fields: an error of a native module is not
 * an instance of the `Error` that another realm sees.
 */
export function translateSqliteError(error: unknown): unknown {
  if (typeof error !== "object" || error === null) return error;
  const { errcode, code, message } = error as { errcode?: unknown; code?: unknown; message?: unknown };
  if (typeof errcode === "number" && REFUSED_BY_SCHEMA.has(errcode)) {
    const told = String(message).replace(/^.*constraint failed: /, "");
    return new ConstraintViolationError(constraintNames[told] ?? told, { cause: error });
  }
  if (typeof errcode === "number" || FROM_SQLITE.has(code)) {
    return new StoreUnavailableError(`the SQLite database does not answer: ${String(message)}`, {
      cause: error,
      reason: troubleOf(errcode, String(message)),
    });
  }
  return error;
}

function troubleOf(errcode: unknown, message: string): StoreTrouble {
  const told = typeof errcode === "number" ? TROUBLES.get(errcode & 0xff) : undefined;
  return told ?? (DAMAGED.test(message) ? "damaged" : "no_answer");
}

export function isBusy(error: unknown): boolean {
  const errcode = (error as { errcode?: unknown } | null)?.errcode;
  return typeof errcode === "number" && (errcode & 0xff) === BUSY;
}
