import type { SnapshotStore } from "../../ports/snapshot-store";
import { ManifestRecord } from "../snapshots/manifest-record";
import { sandboxContended, SandboxError, sandboxNotFound } from "../sandbox-errors";
import type { SandboxId } from "../sandbox-ids";
import type { SandboxLimits } from "../sandbox-limits";
import type { SandboxTimers } from "./sandbox-timers";

const CLAIM_LOOK_MS = 100;

export interface ElsewhereParts {
  readonly snapshots: SnapshotStore;
  readonly timers: SandboxTimers;
  readonly limits: SandboxLimits;
  readonly ownUrl: () => string;
}

/** Says where a sandbox is that is not here. For a moment after a release the next owner has not yet said who it is. */
export async function elsewhere(
  id: SandboxId,
  { snapshots, timers, limits, ownUrl }: ElsewhereParts,
  stopping: AbortSignal,
): Promise<SandboxError> {
  const untilMs = timers.monotonicMs() + limits.claimMs;
  do {
    const record = await ManifestRecord.read(snapshots, id);
    if (record === null) return sandboxNotFound(id);
    const { ownerUrl } = record.current;
    if (ownerUrl !== ownUrl()) {
      return new SandboxError("sandbox_elsewhere", `sandbox ${id} is at ${ownerUrl}`, {
        sandboxId: id,
        ownerUrl,
      });
    }
    await new Promise<void>((resolve) => timers.after(CLAIM_LOOK_MS, resolve));
  } while (timers.monotonicMs() < untilMs && !stopping.aborted);
  return sandboxContended(id, "is between two owners");
}
