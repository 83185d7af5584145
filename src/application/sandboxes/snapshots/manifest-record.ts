import type { ManifestVersion, SnapshotStore } from "../../ports/snapshot-store";
import { sandboxLost } from "../sandbox-errors";
import type { SandboxId } from "../sandbox-ids";
import { manifestText, parseManifest, type SandboxManifest } from "./sandbox-manifest";

/** More than one conflict in a row that is not a loss: late writes of our own. Their number is bounded by our requests. */
const MAX_TRIES = 5;

/**
 * The manifest of one sandbox during one tenure. A conflict is a question: the write may be our own, sent before, whose
 * answer was lost. Only a manifest with a greater fence, or none, says that the sandbox is somebody else's.
 */
export class ManifestRecord {
  private constructor(
    private readonly store: SnapshotStore,
    private manifest: SandboxManifest,
    private version: ManifestVersion | "absent",
  ) {}

  /** Of a sandbox that is not there yet. The first change writes it. */
  static fresh(store: SnapshotStore, manifest: SandboxManifest): ManifestRecord {
    return new ManifestRecord(store, manifest, "absent");
  }

  /** Null if there is no such sandbox. */
  static async read(store: SnapshotStore, id: SandboxId): Promise<ManifestRecord | null> {
    const stored = await store.readManifest(id);
    if (stored === null) return null;
    return new ManifestRecord(store, parseManifest(stored.text, id), stored.version);
  }

  get current(): SandboxManifest {
    return this.manifest;
  }

  /** Makes it this tenure's, whoever owned it before; refused if a later tenure has it. */
  claim(fence: bigint, ownerUrl: string): Promise<void> {
    return this.write((manifest) => ({ ...manifest, fence, ownerUrl }), fence);
  }

  /** Changes what is ours. Rejects with `sandbox_lost` when it is ours no longer, and then nothing was changed. */
  change(changed: (manifest: SandboxManifest) => SandboxManifest): Promise<void> {
    return this.write(changed, this.manifest.fence);
  }

  /** With everything that belongs to the sandbox. */
  async remove(): Promise<void> {
    const { sandboxId, fence } = this.manifest;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (this.version === "absent") return;
      if ((await this.store.removeSandbox(sandboxId, this.version)) === "removed") return;
      if (!(await this.lookAgain(fence))) return;
    }
    throw sandboxLost(sandboxId, "its manifest keeps changing");
  }

  private async write(changed: (manifest: SandboxManifest) => SandboxManifest, fence: bigint): Promise<void> {
    const { sandboxId } = this.manifest;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (this.manifest.fence > fence) throw sandboxLost(sandboxId, "another instance owns it");
      const wanted = changed(this.manifest);
      const text = manifestText(wanted);
      const written = await this.store.writeManifest(sandboxId, text, this.version);
      if (written !== "conflict") {
        this.manifest = wanted;
        this.version = written;
        return;
      }
      if (!(await this.lookAgain(fence))) throw sandboxLost(sandboxId, "it was deleted");
      if (manifestText(this.manifest) === text) return;
    }
    throw sandboxLost(sandboxId, "its manifest keeps changing");
  }

  /** False if there is none any more. Rejects if a later tenure's is there. */
  private async lookAgain(fence: bigint): Promise<boolean> {
    const { sandboxId } = this.manifest;
    const stored = await this.store.readManifest(sandboxId);
    if (stored === null) return false;
    const found = parseManifest(stored.text, sandboxId);
    const wasOurs = this.manifest.fence === fence;
    if (found.fence > fence || (wasOurs && found.fence !== fence))
      throw sandboxLost(sandboxId, "another instance owns it");
    this.manifest = found;
    this.version = stored.version;
    return true;
  }
}
