import type { MerchantId } from "../../domain/identifiers";
import type { SnapshotStore } from "../ports/snapshot-store";
import { ManifestRecord } from "./snapshots/manifest-record";
import { parseSandboxId } from "./sandbox-ids";
import type { SandboxManifest } from "./snapshots/sandbox-manifest";

export interface SandboxQuery {
  readonly limit: number;
  /** The last id of the page before. */
  readonly before?: string;
}

export interface SandboxPage {
  readonly data: readonly SandboxManifest[];
  readonly next: string | null;
}

/** Those of a merchant, or of all (null), newest first, by their manifests alone. */
export async function listSandboxes(
  snapshots: SnapshotStore,
  merchant: MerchantId | null,
  { limit, before }: SandboxQuery,
): Promise<SandboxPage> {
  const ids = [...(await snapshots.sandboxes())].reverse();
  const found: SandboxManifest[] = [];
  for (const text of ids) {
    if (before !== undefined && text >= before) continue;
    const record = await ManifestRecord.read(snapshots, parseSandboxId(text));
    if (record === null || (merchant !== null && record.current.merchant !== merchant)) continue;
    if (found.length === limit) return { data: found, next: found.at(-1)?.sandboxId ?? null };
    found.push(record.current);
  }
  return { data: found, next: null };
}
