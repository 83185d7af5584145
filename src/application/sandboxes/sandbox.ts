import type { MerchantId } from "../../domain/identifiers";
import type { Clock } from "../ports/clock";
import type { SnapshotStore } from "../ports/snapshot-store";
import type { ManifestRecord } from "./manifest-record";
import { sandboxContended, SandboxError, sandboxLost, sandboxNotFound } from "./sandbox-errors";
import type { SandboxEvent, SandboxEventType, SandboxObserver } from "./sandbox-events";
import { fenceOfSnapshot, snapshotId, type SandboxId } from "./sandbox-ids";
import type { SandboxLimits } from "./sandbox-limits";
import type { SnapshotInfo } from "./sandbox-manifest";
import type { SandboxOwnership } from "./sandbox-ownership";
import type { SandboxTimers } from "./sandbox-timers";
import type { SandboxWorld } from "./sandbox-world";
import { encodeSnapshot, sha256 } from "./snapshot-format";

/** Why it leaves this instance. A loss is no reason: nobody decides on it. */
export type LeaveReason = "handed_over" | "unloaded" | "deleted" | "shutdown";

export interface SandboxParts {
  readonly id: SandboxId;
  readonly ownership: SandboxOwnership;
  readonly manifest: ManifestRecord;
  readonly world: SandboxWorld;
  readonly snapshots: SnapshotStore;
  readonly limits: SandboxLimits;
  readonly timers: SandboxTimers;
  readonly clock: Clock;
  readonly observer: SandboxObserver;
  /** Called once, when it has left this instance and its lock is released. */
  readonly onGone: () => void;
}

/**
 * - `serving`: whoever comes is let in.
 * - `leaving`: whoever comes waits for the outcome; those inside finish and are answered.
 * - `sealed`: the last snapshot is being taken; who finishes now may not be in it, and waits for the outcome, too.
 * - `gone`: the world is no longer ours.
 * `leaving` and `sealed` go back to `serving` when the last step fails; `gone` is for ever.
 */
type Phase = "serving" | "leaving" | "sealed" | "gone";

const KEPT_EVENTS = 50;

/** It left before the work began, so the work can be taken elsewhere. */
export class SandboxGone extends Error {
  override readonly name = "SandboxGone";
}

/**
 * One sandbox in the memory of the instance that owns it.
 *
 * What can come in between, at each point where it waits, and what holds then:
 * - a request ∥ leaving: a request is counted in the same turn in which the phase is looked at, so the drain waits for
 *   it, or it waits for the outcome. Who outlasts the drain is answered only if the sandbox stays.
 * - a request ∥ loss: it fails at once. One that finishes before the loss is noticed (after a stall) is not answered
 *   either: the lease is checked by the clocks before each answer.
 * - a checkpoint ∥ requests: the content is taken in one turn, so it is of one instant; what changes later stays unsaved.
 * - a checkpoint ∥ a checkpoint: one after the other, so the manifest never goes back to an older snapshot.
 * - a checkpoint ∥ loss: after the upload the lease is looked at, and the manifest changes only if it still has our fence
 *   and version: a late owner leaves at most a file that nobody refers to.
 * - leaving ∥ leaving (hand-off, idle, delete, shutdown): the first one goes, the others get its outcome. A waiter that
 *   asked meanwhile is heard afterwards, if the sandbox stays.
 * - leaving ∥ loss: gone is gone; the lock is released on both ways, which it allows.
 */
export class Sandbox {
  private phase: Phase = "serving";
  private users = 0;
  private onQuiet: (() => void) | undefined;
  private leaving: Promise<void> = Promise.resolve();
  private saving: Promise<unknown> = Promise.resolve();
  private savedRevision: number | null;
  private snapshotsTaken = 0;
  private readonly told: SandboxEvent[] = [];
  private lastUsedMs: number;
  private lastSaveMs: number;
  private leftFor: LeaveReason | "lost" | undefined;
  private lossSeen: string | undefined;
  private rejectLost!: (error: Error) => void;
  private readonly lost: Promise<never>;

  /** `isSaved`: what is in memory is what the manifest's snapshot says. */
  constructor(
    private readonly parts: SandboxParts,
    isSaved: boolean,
  ) {
    this.savedRevision = isSaved ? parts.world.revision : null;
    this.lastUsedMs = this.lastSaveMs = parts.timers.monotonicMs();
    this.lost = new Promise<never>((_resolve, reject) => (this.rejectLost = reject));
    // Often nobody is inside who would be told.
    this.lost.catch(() => undefined);
  }

  /** From here on it gives itself up when somebody asks. Not before it is where requests find it. */
  begin(): void {
    this.parts.ownership.listen({
      onReleaseRequested: () => void this.handOver(),
      onLost: (reason) => this.lose(reason),
    });
  }

  get id(): SandboxId {
    return this.parts.id;
  }

  get isServing(): boolean {
    return this.phase === "serving";
  }

  /** Leaving, or gone already: resolves when that is decided. */
  get outcome(): Promise<void> {
    return this.leaving;
  }

  get isDirty(): boolean {
    return this.parts.world.revision !== this.savedRevision;
  }

  get hasUsers(): boolean {
    return this.users > 0;
  }

  get idleMs(): number {
    return this.users > 0 ? 0 : this.parts.timers.monotonicMs() - this.lastUsedMs;
  }

  /** Since the last checkpoint was tried. */
  get unsavedMs(): number {
    return this.isDirty ? this.parts.timers.monotonicMs() - this.lastSaveMs : 0;
  }

  get manifest() {
    return this.parts.manifest.current;
  }

  /** To look at. Whoever changes it goes through `use`. */
  get world(): SandboxWorld {
    return this.parts.world;
  }

  get ownership(): SandboxOwnership {
    return this.parts.ownership;
  }

  /** What happened to it since it is here, oldest first: the last of it. */
  get events(): readonly SandboxEvent[] {
    return this.told;
  }

  /** To others than its merchant it does not exist. */
  assertBelongsTo(merchant: MerchantId): void {
    if (this.manifest.merchant !== merchant) throw sandboxNotFound(this.id);
  }

  /** Lends the world. Rejects with `SandboxGone` if it left before the work began. */
  async use<T>(work: (world: SandboxWorld) => Promise<T>): Promise<T> {
    const deadlineMs = this.parts.timers.monotonicMs() + this.parts.limits.waitMs;
    while (this.phase !== "serving") await this.turn(deadlineMs);
    this.assertStillOurs();
    // Nothing is awaited between the look at the phase and this: a drain that begins later waits for us.
    this.users += 1;
    const done = work(this.parts.world).then(
      (value) => () => value,
      (error: unknown) => (): T => {
        throw error;
      },
    );
    try {
      const answer = await Promise.race([done, this.lost]);
      if (this.phaseNow() === "sealed") await this.leaving;
      this.assertStillOurs();
      return answer();
    } finally {
      this.users -= 1;
      this.lastUsedMs = this.parts.timers.monotonicMs();
      if (this.users === 0) this.onQuiet?.();
    }
  }

  /** A snapshot that somebody asked for, and that is kept until the sandbox is deleted. */
  checkpoint(): Promise<SnapshotInfo> {
    return this.use(() => this.save(true));
  }

  /** Before anybody knows of it. */
  async saveFirst(): Promise<void> {
    await this.save(false);
  }

  /** The periodic one. Never rejects; says whether it worked. */
  async checkpointQuietly(): Promise<boolean> {
    try {
      await this.save(false);
      await this.sweep();
      return true;
    } catch (error) {
      if (this.phase !== "gone") this.tell("checkpoint_failed", { error });
      return false;
    }
  }

  /** Resolves with whether it has left. A sandbox whose last checkpoint fails stays and serves on, but for a shutdown. */
  async leave(reason: LeaveReason): Promise<boolean> {
    if (this.phase !== "serving") {
      await this.leaving;
      return this.phaseNow() === "gone";
    }
    this.phase = "leaving";
    const leaving = this.goThroughWith(reason);
    this.leaving = leaving.catch(() => undefined);
    try {
      await leaving;
    } finally {
      // Asked while something else was tried that did not work out: now it is the waiter's turn.
      if (this.phaseNow() === "serving" && reason !== "handed_over" && this.ownership.releaseRequested)
        void this.handOver();
    }
    return this.phaseNow() === "gone";
  }

  private async handOver(): Promise<void> {
    await this.leave("handed_over").catch(() => undefined);
  }

  private async goThroughWith(reason: LeaveReason): Promise<void> {
    await this.drained();
    if (this.phaseNow() === "gone") return;
    this.phase = "sealed";
    try {
      if (reason === "deleted") await this.parts.manifest.remove();
      else if (this.isDirty) await this.save(false);
    } catch (error) {
      if (this.phaseNow() === "gone") return;
      const loss = lossOf(error);
      if (loss !== null) return this.lose(loss);
      this.tell(reason === "shutdown" ? "checkpoint_failed" : "kept", { reason, error });
      if (reason !== "shutdown") {
        this.phase = "serving";
        if (reason === "deleted") throw error;
        return;
      }
    }
    if (this.phaseNow() === "gone") return;
    // Before the lock: from the moment it is released nobody may be answered from this memory.
    this.phase = "gone";
    this.leftFor = reason;
    await this.parts.ownership.release();
    this.tell(reason === "shutdown" ? "unloaded" : reason, reason === "shutdown" ? { reason } : {});
    this.parts.onGone();
  }

  /** Bounded: a hanging request must not keep the sandbox from whoever waits for it. */
  private drained(): Promise<void> {
    if (this.users === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        this.onQuiet = undefined;
        resolve();
      };
      const cancel = this.parts.timers.after(this.parts.limits.drainMs, end);
      this.onQuiet = end;
      void this.lost.catch(end);
    });
  }

  private lose(reason: string): void {
    if (this.phase === "gone") return;
    this.phase = "gone";
    this.leftFor = "lost";
    this.lossSeen = reason;
    this.rejectLost(sandboxLost(this.id, reason));
    this.tell("lost", { reason });
    this.parts.onGone();
    // Nothing of ours is in use any more; whoever waits need not wait for the lease.
    void this.parts.ownership.release();
  }

  /** Resolves when the phase may be another one. Who is sent elsewhere is sent when the lock is free, not before. */
  private async turn(deadlineMs: number): Promise<void> {
    const { timers } = this.parts;
    const leftMs = deadlineMs - timers.monotonicMs();
    const isOver =
      this.leftFor === "lost" || (leftMs > 0 && (await settledWithin(this.leaving, leftMs, timers)));
    if (!isOver) throw sandboxContended(this.id, "is being handed over");
    if (this.phaseNow() === "gone") throw this.goneError();
  }

  private goneError(): Error {
    if (this.leftFor === "lost") return sandboxLost(this.id, this.lossSeen ?? "its lease ended");
    if (this.leftFor === "deleted") return sandboxNotFound(this.id);
    return new SandboxGone(this.id);
  }

  /** What is said after this rests on a lease that is ours now, whatever a late timer has yet to tell. */
  private assertStillOurs(): void {
    if (this.phase === "gone") {
      if (this.leftFor === "deleted") throw sandboxNotFound(this.id);
      throw sandboxLost(this.id, this.lossSeen ?? "it was handed over before the request was finished");
    }
    const loss = this.parts.ownership.loss();
    if (loss === null) return;
    this.lose(loss);
    throw sandboxLost(this.id, loss);
  }

  private save(keep: boolean): Promise<SnapshotInfo> {
    const saved = this.saving.then(() => this.saveNow(keep));
    this.saving = saved.catch(() => undefined);
    return saved;
  }

  private async saveNow(keep: boolean): Promise<SnapshotInfo> {
    const { id, world, manifest, snapshots, limits, clock, timers, ownership } = this.parts;
    this.lastSaveMs = timers.monotonicMs();
    if (keep && manifest.current.kept.length >= limits.keptSnapshots) {
      throw new SandboxError(
        "sandbox_limit_reached",
        `sandbox ${id} keeps ${limits.keptSnapshots} snapshots, and no more: make another sandbox from one of them`,
        { sandboxId: id },
      );
    }
    const { content, revision } = await world.takeContent();
    const createdAt = clock.now();
    const bytes = encodeSnapshot({ sandboxId: id, takenAt: createdAt, content });
    if (bytes.length > limits.snapshotBytes) {
      throw new SandboxError(
        "sandbox_too_large",
        `a snapshot of sandbox ${id} has ${bytes.length} bytes, and ${limits.snapshotBytes} is the most: nothing was kept ` +
          "since the last one; begin a new sandbox, or one from an earlier snapshot",
        { sandboxId: id },
      );
    }
    const name = `${ownership.fence}-${(this.snapshotsTaken += 1)}`;
    await snapshots.putSnapshot(id, name, bytes);
    this.assertStillOurs();
    const info: SnapshotInfo = { name, createdAt, bytes: bytes.length, checksum: sha256(bytes) };
    try {
      await manifest.change((current) => ({
        ...current,
        snapshot: info,
        previous: current.snapshot,
        kept: keep ? [info, ...current.kept] : current.kept,
      }));
    } catch (error) {
      const loss = lossOf(error);
      if (loss !== null) this.lose(loss);
      throw error;
    }
    this.savedRevision = revision;
    this.tell("checkpointed", { snapshotId: snapshotId({ sandboxId: id, name }) });
    return info;
  }

  /** Takes away what no manifest refers to: older automatic ones, and what earlier tenures left behind. */
  private async sweep(): Promise<void> {
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

  /** As a call, because the phase changes while others are awaited. */
  private phaseNow(): Phase {
    return this.phase;
  }

  /** Tells observers, and whoever looks at the sandbox later. */
  tell(type: SandboxEventType, more: { reason?: string; error?: unknown; snapshotId?: string } = {}): void {
    const { id, observer, clock, manifest, ownership } = this.parts;
    const { ownerUrl } = manifest.current;
    const event = { sandboxId: id, type, at: clock.now(), ownerUrl, fence: ownership.fence, ...more };
    this.told.push(event);
    if (this.told.length > KEPT_EVENTS) this.told.shift();
    observer.notify(event);
  }
}

function lossOf(error: unknown): string | null {
  return error instanceof SandboxError && error.code === "sandbox_lost" ? error.message : null;
}

async function settledWithin(work: Promise<void>, ms: number, timers: SandboxTimers): Promise<boolean> {
  let cancel: () => void = () => undefined;
  const late = new Promise<false>((resolve) => (cancel = timers.after(ms, () => resolve(false))));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    cancel();
  }
}
