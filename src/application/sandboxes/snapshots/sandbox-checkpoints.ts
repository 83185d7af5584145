import type { Clock } from "../../ports/clock";
import type { SnapshotStore } from "../../ports/snapshot-store";
import type { ManifestRecord } from "./manifest-record";
import { SandboxError } from "../sandbox-errors";
import { fenceOfSnapshot, type SandboxId } from "../sandbox-ids";
import type { SandboxLimits } from "../sandbox-limits";
import type { SnapshotInfo } from "./sandbox-manifest";
import type { SandboxOwnership } from "../ownership/sandbox-ownership";
import type { SandboxTimers } from "../ownership/sandbox-timers";
import type { SandboxWorld } from "../world/sandbox-world";
import { encodeSnapshot, sha256 } from "./snapshot-format";

export interface CheckpointParts {
  readonly id: SandboxId;
  readonly ownership: SandboxOwnership;
  readonly manifest: ManifestRecord;
  readonly world: SandboxWorld;
  readonly snapshots: SnapshotStore;
  readonly limits: SandboxLimits;
  readonly timers: SandboxTimers;
  readonly clock: Clock;
}

/** The snapshots of one tenure: uploaded first, then named by the manifest, one after the other. */
export class SandboxCheckpoints {
  private saving: Promise<unknown> = Promise.resolve();
  private savedRevision: number | null;
  private taken = 0;
  private lastTriedMs: number;

  /**
   * `isSaved`: what is in memory is what the manifest's snapshot says. `assertStillOurs`: called after each upload, so
   * that a late owner leaves at most a file that nobody refers to.
   */
  constructor(
    private readonly parts: CheckpointParts,
    isSaved: boolean,
    private readonly assertStillOurs: () => void,
  ) {
    this.savedRevision = isSaved ? parts.world.revision : null;
    this.lastTriedMs = parts.timers.monotonicMs();
  }

  get isDirty(): boolean {
    return this.parts.world.revision !== this.savedRevision;
  }

  /** Since the last one was tried. */
  get unsavedMs(): number {
    return this.isDirty ? this.parts.timers.monotonicMs() - this.lastTriedMs : 0;
  }

  /** `keep`: somebody asked for it. Rejects with `sandbox_lost` when the sandbox is ours no longer. */
  take(keep: boolean): Promise<SnapshotInfo> {
    const taken = this.saving.then(() => this.takeNow(keep));
    this.saving = taken.catch(() => undefined);
    return taken;
  }

  /** Takes away what no manifest refers to: older automatic ones, and what earlier tenures left behind. */
  async sweep(): Promise<void> {
    const { id, manifest, snapshots, ownership } = this.parts;
    const { snapshot, previous, kept } = manifest.current;
    const referred = new Set([snapshot, previous, ...kept].map((info) => info?.name));
    try {
      for (const name of await snapshots.snapshotNames(id)) {
        const fence = fenceOfSnapshot(name);
        if (fence !== null && fence <= ownership.fence && !referred.has(name))
          await snapshots.removeSnapshot(id, name);
      }
    } catch {
      // Only room is lost, and the next checkpoint tries again.
    }
  }

  private async takeNow(keep: boolean): Promise<SnapshotInfo> {
    const { id, world, manifest, snapshots, clock, timers, ownership } = this.parts;
    this.lastTriedMs = timers.monotonicMs();
    if (keep) this.assertRoomForOneMore();
    const { content, revision } = await world.takeContent();
    const createdAt = clock.now();
    const bytes = encodeSnapshot({ sandboxId: id, takenAt: createdAt, content });
    this.assertSmallEnough(bytes);
    const name = `${ownership.fence}-${(this.taken += 1)}`;
    await snapshots.putSnapshot(id, name, bytes);
    this.assertStillOurs();
    const info: SnapshotInfo = { name, createdAt, bytes: bytes.length, checksum: sha256(bytes) };
    await manifest.change((current) => ({
      ...current,
      snapshot: info,
      previous: current.snapshot,
      kept: keep ? [info, ...current.kept] : current.kept,
    }));
    this.savedRevision = revision;
    return info;
  }

  private assertRoomForOneMore(): void {
    const { id, manifest, limits } = this.parts;
    if (manifest.current.kept.length < limits.keptSnapshots) return;
    throw new SandboxError(
      "sandbox_limit_reached",
      `sandbox ${id} keeps ${limits.keptSnapshots} snapshots, and no more: make another sandbox from one of them`,
      { sandboxId: id },
    );
  }

  private assertSmallEnough(bytes: Uint8Array): void {
    const { id, limits } = this.parts;
    if (bytes.length <= limits.snapshotBytes) return;
    throw new SandboxError(
      "sandbox_too_large",
      `a snapshot of sandbox ${id} has ${bytes.length} bytes, and ${limits.snapshotBytes} is the most: nothing was kept ` +
        "since the last one; begin a new sandbox, or one from an earlier snapshot",
      { sandboxId: id },
    );
  }
}
