import {
  manifestVersion,
  SnapshotStoreError,
  type ManifestVersion,
  type SnapshotStore,
  type StoredManifest,
} from "../../application/ports/snapshot-store";

/**
 * Excludes: whoever shares this object, by version.
 * Survives: nothing; it is gone with the process.
 * Not for: anything but tests, where it stands for the bucket that several instances share.
 */
export class MemorySnapshotStore implements SnapshotStore {
  private readonly manifests = new Map<string, StoredManifest>();
  private readonly snapshots = new Map<string, Map<string, Uint8Array>>();
  /** One for all and never set back, so that no version is seen twice. */
  private writes = 0;

  async putSnapshot(sandboxId: string, name: string, bytes: Uint8Array): Promise<void> {
    const own = this.snapshots.get(sandboxId) ?? new Map<string, Uint8Array>();
    const there = own.get(name);
    if (there !== undefined && Buffer.compare(there, bytes) !== 0) {
      throw new SnapshotStoreError(`snapshot ${sandboxId}/${name} is there already, with other content`);
    }
    own.set(name, Uint8Array.from(bytes));
    this.snapshots.set(sandboxId, own);
  }

  async readSnapshot(sandboxId: string, name: string): Promise<Uint8Array | null> {
    return this.snapshots.get(sandboxId)?.get(name) ?? null;
  }

  async snapshotNames(sandboxId: string): Promise<readonly string[]> {
    return [...(this.snapshots.get(sandboxId)?.keys() ?? [])];
  }

  async removeSnapshot(sandboxId: string, name: string): Promise<void> {
    this.snapshots.get(sandboxId)?.delete(name);
  }

  async readManifest(sandboxId: string): Promise<StoredManifest | null> {
    return this.manifests.get(sandboxId) ?? null;
  }

  async writeManifest(
    sandboxId: string,
    text: string,
    ifVersion: ManifestVersion | "absent",
  ): Promise<ManifestVersion | "conflict"> {
    if ((this.manifests.get(sandboxId)?.version ?? "absent") !== ifVersion) return "conflict";
    const version = manifestVersion((this.writes += 1));
    this.manifests.set(sandboxId, { text, version });
    return version;
  }

  async removeSandbox(sandboxId: string, ifVersion: ManifestVersion): Promise<"removed" | "conflict"> {
    if (this.manifests.get(sandboxId)?.version !== ifVersion) return "conflict";
    this.manifests.delete(sandboxId);
    this.snapshots.delete(sandboxId);
    return "removed";
  }

  async sandboxes(): Promise<readonly string[]> {
    return [...this.manifests.keys()].sort();
  }
}
