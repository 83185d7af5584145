import { sandboxLost, sandboxNotFound } from "../sandbox-errors";
import type { SandboxId } from "../sandbox-ids";

/** Why it leaves this instance. A loss is no reason: nobody decides on it. */
export type LeaveReason = "handed_over" | "unloaded" | "deleted" | "shutdown";

/** It left before the work began, so the work can be taken elsewhere. */
export class SandboxGone extends Error {
  override readonly name = "SandboxGone";
}

/** How the time of a sandbox in this instance ended, and what those hear who are too late. */
export class SandboxEnd {
  /** Rejects when the sandbox is lost, and never settles otherwise. */
  readonly lost: Promise<never>;
  private rejectLost!: (error: Error) => void;
  private loss: string | undefined;
  private leftFor: LeaveReason | undefined;

  constructor(private readonly id: SandboxId) {
    this.lost = new Promise<never>((_resolve, reject) => (this.rejectLost = reject));
    // Often nobody is inside who would be told.
    this.lost.catch(() => undefined);
  }

  get isLoss(): boolean {
    return this.loss !== undefined;
  }

  left(reason: LeaveReason): void {
    this.leftFor = reason;
  }

  lose(reason: string): void {
    this.loss = reason;
    this.rejectLost(sandboxLost(this.id, reason));
  }

  /** For work that has not begun. */
  errorBeforeWork(): Error {
    if (this.loss !== undefined) return sandboxLost(this.id, this.loss);
    return this.leftFor === "deleted" ? sandboxNotFound(this.id) : new SandboxGone(this.id);
  }

  /** For work that may not be in the last snapshot. */
  errorAfterWork(): Error {
    if (this.leftFor === "deleted") return sandboxNotFound(this.id);
    return sandboxLost(this.id, this.loss ?? "it was handed over before the request was finished");
  }
}
