export type SandboxErrorCode =
  | "invalid_sandbox_id"
  | "sandbox_not_found"
  | "sandbox_elsewhere"
  | "sandbox_contended"
  | "sandbox_lost"
  | "sandbox_limit_reached"
  | "sandbox_full"
  | "sandbox_too_large"
  | "snapshot_not_found"
  | "snapshot_damaged"
  | "snapshot_missing"
  | "clock_not_movable";

/** What a caller is told beside the words. */
export interface SandboxErrorFacts {
  readonly sandboxId?: string;
  /** Where the owner says that it is reached. */
  readonly ownerUrl?: string;
  readonly snapshotId?: string;
  /** The one before the damaged one, to begin again from. */
  readonly previousSnapshotId?: string;
}

/** Why a sandbox cannot do what was asked of it; the message is for people. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";

  constructor(
    readonly code: SandboxErrorCode,
    message: string,
    readonly facts: SandboxErrorFacts = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function sandboxNotFound(sandboxId: string): SandboxError {
  return new SandboxError("sandbox_not_found", `there is no sandbox ${sandboxId}`, { sandboxId });
}

export function sandboxLost(sandboxId: string, reason: string): SandboxError {
  return new SandboxError(
    "sandbox_lost",
    `this instance does not own sandbox ${sandboxId} any more (${reason}): what came after its last checkpoint is ` +
      "not kept; repeat the request",
    { sandboxId },
  );
}

export function sandboxContended(sandboxId: string, reason: string): SandboxError {
  return new SandboxError("sandbox_contended", `sandbox ${sandboxId} ${reason}; try again`, { sandboxId });
}

/** What it says where it is a loss of the sandbox; else null. */
export function lossOf(error: unknown): string | null {
  return error instanceof SandboxError && error.code === "sandbox_lost" ? error.message : null;
}
