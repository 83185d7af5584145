import type { z } from "zod";
import type { Sandbox } from "../../../../application/sandboxes/sandbox";
import { snapshotId } from "../../../../application/sandboxes/sandbox-ids";
import type {
  SandboxManifest,
  SnapshotInfo,
} from "../../../../application/sandboxes/snapshots/sandbox-manifest";
import type { oneSnapshotAnswer, sandboxAnswer, sandboxListAnswer } from "./sandbox-answers";

export function presentSandbox(sandbox: Sandbox): z.output<typeof sandboxAnswer> {
  const { manifest, ownership, world } = sandbox;
  const { sandboxId, kept } = manifest;
  const known = [manifest.snapshot, manifest.previous, ...kept].filter((info) => info !== null);
  const snapshots = [...new Map(known.map((info) => [info.name, info])).values()];
  return {
    id: sandboxId,
    createdAt: manifest.createdAt.toISOString(),
    ownerUrl: manifest.ownerUrl,
    lease: { fencingToken: ownership.fence.toString(), since: ownership.since.toISOString() },
    waiter: ownership.releaseRequested,
    clock: world.now.toISOString(),
    counts: { payments: world.paymentCount },
    unsaved: sandbox.isDirty,
    snapshots: snapshots.map((info) => ({
      ...presentSnapshot(sandboxId, info),
      kept: kept.some(({ name }) => name === info.name),
    })),
    events: sandbox.history.events.map(({ type, at, snapshotId: id, reason }) => ({
      type,
      at: at.toISOString(),
      snapshotId: id,
      reason,
    })),
  };
}

export function presentSnapshot(
  sandboxId: SandboxManifest["sandboxId"],
  { name, createdAt, bytes, checksum }: SnapshotInfo,
): z.output<typeof oneSnapshotAnswer>["snapshot"] {
  return { id: snapshotId({ sandboxId, name }), createdAt: createdAt.toISOString(), bytes, checksum };
}

export function presentListed(
  { sandboxId, createdAt, ownerUrl }: SandboxManifest,
  here: boolean,
): z.output<typeof sandboxListAnswer>["data"][number] {
  return { id: sandboxId, createdAt: createdAt.toISOString(), ownerUrl, here };
}
