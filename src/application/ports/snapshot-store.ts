declare const brand: unique symbol;
/** Of a manifest as it was read or written: an opaque token, compared for equality only. */
export type ManifestVersion = string & { readonly [brand]: "ManifestVersion" };

export function manifestVersion(token: string | number): ManifestVersion {
  return String(token) as ManifestVersion;
}

export interface StoredManifest {
  readonly text: string;
  readonly version: ManifestVersion;
}

/**
 * Keeps snapshots of sandboxes, and for each sandbox one small manifest that says which snapshot counts. Sandbox ids and
 * snapshot names are 1 to 100 of `a-z`, `0-9` and `-`. Every adapter MUST
 * - write a snapshot whole or not at all, and never change it: a name that is taken by other bytes is refused, the same
 *   bytes again are accepted (a repeated request whose first answer was lost);
 * - give back exactly the bytes that were put, or null where there are none; whether they are undamaged is for the
 *   reader to check;
 * - replace a manifest only if its version is the one given, and create it only if there is none, whoever else writes at
 *   the same time; else answer `conflict` and change nothing. A version never comes back (ids are never used a second time);
 * - remove a manifest only if its version is the one given, and then every snapshot of that sandbox. A writer that still
 *   has a version from before gets `conflict`: it brings nothing back;
 * - name in `sandboxes` each sandbox that has a manifest, ascending, and none that was removed;
 * - have made durable what it acknowledged, as far as it survives anything at all;
 * - reject with `SnapshotStoreError` when it cannot tell. A write that was rejected so may have been applied, or may be
 *   applied later: only reading again can tell, and only the next version rules it out.
 */
export interface SnapshotStore {
  putSnapshot(sandboxId: string, name: string, bytes: Uint8Array): Promise<void>;
  readSnapshot(sandboxId: string, name: string): Promise<Uint8Array | null>;
  /** In no particular order; with or without what was put or removed meanwhile. */
  snapshotNames(sandboxId: string): Promise<readonly string[]>;
  /** Does nothing if there is none. */
  removeSnapshot(sandboxId: string, name: string): Promise<void>;

  readManifest(sandboxId: string): Promise<StoredManifest | null>;
  writeManifest(
    sandboxId: string,
    text: string,
    ifVersion: ManifestVersion | "absent",
  ): Promise<ManifestVersion | "conflict">;
  removeSandbox(sandboxId: string, ifVersion: ManifestVersion): Promise<"removed" | "conflict">;
  sandboxes(): Promise<readonly string[]>;
}

/** The store failed or does not answer. Its words are for the log: they may name hosts and paths. */
export class SnapshotStoreError extends Error {
  override readonly name = "SnapshotStoreError";
  readonly code = "snapshot_store_unavailable";
}
