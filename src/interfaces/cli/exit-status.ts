import type { LockErrorCode } from "../../application/ports/lock-errors";

/** What the process says to its caller when it ends. The child's own status passes through `run` unchanged. */
export const exitStatus = {
  done: 0,
  failed: 1,
  usage: 64,
  unavailable: 69,
  /** Nothing is wrong, and the same command may succeed later. */
  lockTimeout: 75,
  contended: 76,
  badConfiguration: 78,
  lockLost: 79,
  interrupted: 130,
  terminated: 143,
} as const;

type CliErrorCode =
  | Exclude<LockErrorCode, "wait_cancelled">
  | "usage"
  | "refused"
  | "try_again"
  | "bad_configuration"
  | "service_unavailable"
  | "schema_too_new"
  | "secrets_key_missing"
  | "secrets_key_wrong";

const statusOfCode = {
  usage: exitStatus.usage,
  refused: exitStatus.failed,
  try_again: exitStatus.lockTimeout,
  bad_configuration: exitStatus.badConfiguration,
  service_unavailable: exitStatus.unavailable,
  schema_too_new: exitStatus.badConfiguration,
  secrets_key_missing: exitStatus.badConfiguration,
  secrets_key_wrong: exitStatus.badConfiguration,
  lock_timeout: exitStatus.lockTimeout,
  lock_contended: exitStatus.contended,
  lock_lost: exitStatus.lockLost,
  lock_unavailable: exitStatus.unavailable,
  lock_reentrancy: exitStatus.failed,
  lock_permits: exitStatus.badConfiguration,
} as const satisfies Record<CliErrorCode, number>;

/** The one table from errors to exit statuses. Null for an error that nobody planned for. */
export function statusOf(error: unknown): number | null {
  const code: unknown =
    typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" && code in statusOfCode ? statusOfCode[code as CliErrorCode] : null;
}

/** What was typed cannot be meant. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly code = "usage";
}
