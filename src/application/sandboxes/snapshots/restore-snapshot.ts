import type { MerchantId } from "../../../domain/identifiers";
import type { SnapshotStore } from "../../ports/snapshot-store";
import { ManifestRecord } from "./manifest-record";
import { SandboxError } from "../sandbox-errors";
import { parseSnapshotId, snapshotId, type SnapshotAddress } from "../sandbox-ids";
import type { SandboxManifest, SnapshotInfo } from "./sandbox-manifest";
import type { SandboxWorld, SandboxWorlds } from "../world/sandbox-world";
import { DamagedSnapshotError, decodeSnapshot } from "./snapshot-format";

/** The world of the snapshot that counts. Refused in words if it is damaged or not there, with the one before it on offer. */
export async function restoreSnapshot(
  snapshots: SnapshotStore,
  worlds: SandboxWorlds,
  { sandboxId, snapshot, previous }: SandboxManifest,
): Promise<SandboxWorld> {
  if (snapshot === null) throw new Error(`the manifest of sandbox ${sandboxId} names no snapshot`);
  return worldAt(snapshots, worlds, { sandboxId, name: snapshot.name }, previous);
}

/** The world of any snapshot of this merchant's, for a new sandbox. Another merchant's does not exist. */
export async function worldOfSnapshot(
  snapshots: SnapshotStore,
  worlds: SandboxWorlds,
  merchant: MerchantId,
  id: string,
): Promise<SandboxWorld> {
  const address = parseSnapshotId(id);
  const record = address && (await ManifestRecord.read(snapshots, address.sandboxId));
  if (address === null || record?.current.merchant !== merchant) throw notFound(id);
  const { snapshot, previous, kept } = record.current;
  const known = [snapshot, previous, ...kept].filter((info) => info !== null);
  if (!known.some(({ name }) => name === address.name)) throw notFound(id);
  return worldAt(snapshots, worlds, address, newestBefore(known, address.name));
}

async function worldAt(
  snapshots: SnapshotStore,
  worlds: SandboxWorlds,
  address: SnapshotAddress,
  before: SnapshotInfo | null,
): Promise<SandboxWorld> {
  const { sandboxId } = address;
  const id = snapshotId(address);
  const offer = before === null ? undefined : snapshotId({ sandboxId, name: before.name });
  const facts = {
    sandboxId,
    snapshotId: id,
    ...(offer === undefined ? {} : { previousSnapshotId: offer }),
  };
  const instead =
    offer === undefined ? "there is none before it" : `make a new sandbox from the one before it, ${offer}`;
  const bytes = await snapshots.readSnapshot(sandboxId, address.name);
  if (bytes === null) {
    throw new SandboxError(
      "snapshot_missing",
      `snapshot ${id} is not in the snapshot store (several hosts need a shared one); ${instead}`,
      facts,
    );
  }
  try {
    const snapshot = decodeSnapshot(bytes);
    if (snapshot.sandboxId !== sandboxId) throw new DamagedSnapshotError("it is another sandbox's");
    return worlds.restore(snapshot.content);
  } catch (error) {
    const why =
      error instanceof DamagedSnapshotError ? error.message : "its content is not that of a sandbox";
    throw new SandboxError("snapshot_damaged", `snapshot ${id} is damaged: ${why}; ${instead}`, facts, {
      cause: error,
    });
  }
}

function newestBefore(known: readonly SnapshotInfo[], name: string): SnapshotInfo | null {
  const at = known.find((info) => info.name === name)?.createdAt ?? new Date(0);
  const older = known.filter((info) => info.name !== name && info.createdAt <= at);
  return older.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())[0] ?? null;
}

function notFound(id: string): SandboxError {
  return new SandboxError("snapshot_not_found", `there is no snapshot ${id}`, { snapshotId: id });
}
