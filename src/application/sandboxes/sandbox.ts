import type { MerchantId } from "../../domain/identifiers";
import { SandboxCheckpoints, type CheckpointParts } from "./snapshots/sandbox-checkpoints";
import { SandboxEnd, type LeaveReason } from "./ownership/sandbox-end";
import { lossOf, sandboxContended, sandboxLost, sandboxNotFound } from "./sandbox-errors";
import { SandboxHistory, type HistoryParts } from "./snapshots/sandbox-history";
import { snapshotId, type SandboxId } from "./sandbox-ids";
import type { SnapshotInfo } from "./snapshots/sandbox-manifest";
import type { SandboxOwnership } from "./ownership/sandbox-ownership";
import { settledWithin } from "./ownership/sandbox-timers";
import { SandboxUsers } from "./ownership/sandbox-users";
import type { SandboxWorld } from "./world/sandbox-world";

export interface SandboxParts extends CheckpointParts, HistoryParts {
  /** Called once, when it has left this instance and its lock is released. */
  readonly onGone: (sandbox: Sandbox) => void;
}

/**
 * - `serving`: whoever comes is let in.
 * - `leaving`: whoever comes waits for the outcome; those inside finish and are answered.
 * - `sealed`: the last snapshot is being taken; who finishes now may not be in it, and waits for the outcome, too.
 * - `gone`: the world is no longer ours.
 * `leaving` and `sealed` go back to `serving` when the last step fails; `gone` is for ever.
 */
type Phase = "serving" | "leaving" | "sealed" | "gone";

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
  readonly id: SandboxId;
  readonly ownership: SandboxOwnership;
  readonly history: SandboxHistory;
  private phase: Phase = "serving";
  private readonly users: SandboxUsers;
  private readonly checkpoints: SandboxCheckpoints;
  private readonly end: SandboxEnd;
  private leaving: Promise<void> = Promise.resolve();

  /** `isSaved`: what is in memory is what the manifest's snapshot says. */
  constructor(
    private readonly parts: SandboxParts,
    isSaved: boolean,
  ) {
    this.id = parts.id;
    this.ownership = parts.ownership;
    this.users = new SandboxUsers(parts.timers);
    this.checkpoints = new SandboxCheckpoints(parts, isSaved, () => this.assertStillOurs());
    this.history = new SandboxHistory(parts);
    this.end = new SandboxEnd(parts.id);
  }

  /** From here on it gives itself up when somebody asks. Not before it is where requests find it. */
  begin(): void {
    this.ownership.listen({
      onReleaseRequested: () => void this.handOver(),
      onLost: (reason) => this.lose(reason),
    });
  }

  get isServing(): boolean {
    return this.phase === "serving";
  }

  /** Leaving, or gone already: resolves when that is decided. */
  get outcome(): Promise<void> {
    return this.leaving;
  }

  get isDirty(): boolean {
    return this.checkpoints.isDirty;
  }

  get idleMs(): number {
    return this.users.idleMs;
  }

  /** Since the last checkpoint was tried. */
  get unsavedMs(): number {
    return this.checkpoints.unsavedMs;
  }

  get manifest() {
    return this.parts.manifest.current;
  }

  /** To look at. Whoever changes it goes through `use`. */
  get world(): SandboxWorld {
    return this.parts.world;
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
    this.users.enter();
    const done = work(this.parts.world).then(
      (value) => () => value,
      (error: unknown) => (): T => {
        throw error;
      },
    );
    try {
      const answer = await Promise.race([done, this.end.lost]);
      if (this.phaseNow() === "sealed") await this.leaving;
      this.assertStillOurs();
      return answer();
    } finally {
      this.users.leave();
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
      await this.checkpoints.sweep();
      return true;
    } catch (error) {
      if (this.phase !== "gone") this.history.tell("checkpoint_failed", { error });
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
    await this.users.drained(this.parts.limits.drainMs);
    if (this.phaseNow() === "gone") return;
    this.phase = "sealed";
    try {
      if (reason === "deleted") await this.parts.manifest.remove();
      else if (this.isDirty) await this.save(false);
    } catch (error) {
      if (this.phaseNow() === "gone") return;
      const loss = lossOf(error);
      if (loss !== null) return this.lose(loss);
      this.history.tell(reason === "shutdown" ? "checkpoint_failed" : "kept", { reason, error });
      if (reason !== "shutdown") {
        this.phase = "serving";
        if (reason === "deleted") throw error;
        return;
      }
    }
    if (this.phaseNow() === "gone") return;
    // Before the lock: from the moment it is released nobody may be answered from this memory.
    this.phase = "gone";
    this.end.left(reason);
    await this.ownership.release();
    this.history.tell(reason === "shutdown" ? "unloaded" : reason, reason === "shutdown" ? { reason } : {});
    this.parts.onGone(this);
  }

  private lose(reason: string): void {
    if (this.phase === "gone") return;
    this.phase = "gone";
    this.end.lose(reason);
    this.history.tell("lost", { reason });
    this.parts.onGone(this);
    // Nothing of ours is in use any more; whoever waits need not wait for the lease.
    void this.ownership.release();
  }

  /** Resolves when the phase may be another one. Who is sent elsewhere is sent when the lock is free, not before. */
  private async turn(deadlineMs: number): Promise<void> {
    const { timers } = this.parts;
    const leftMs = deadlineMs - timers.monotonicMs();
    const isOver = this.end.isLoss || (leftMs > 0 && (await settledWithin(this.leaving, leftMs, timers)));
    if (!isOver) throw sandboxContended(this.id, "is being handed over");
    if (this.phaseNow() === "gone") throw this.end.errorBeforeWork();
  }

  /** What is said after this rests on a lease that is ours now, whatever a late timer has yet to tell. */
  private assertStillOurs(): void {
    if (this.phase === "gone") throw this.end.errorAfterWork();
    const loss = this.ownership.loss();
    if (loss === null) return;
    this.lose(loss);
    throw sandboxLost(this.id, loss);
  }

  private async save(keep: boolean): Promise<SnapshotInfo> {
    try {
      const info = await this.checkpoints.take(keep);
      this.history.tell("checkpointed", { snapshotId: snapshotId({ sandboxId: this.id, name: info.name }) });
      return info;
    } catch (error) {
      const loss = lossOf(error);
      if (loss !== null) this.lose(loss);
      throw error;
    }
  }

  /** As a call, because the phase changes while others are awaited. */
  private phaseNow(): Phase {
    return this.phase;
  }
}
