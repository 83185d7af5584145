/** What happens to a sandbox, as opposed to what happens in it. */
export type SandboxEventType =
  | "created"
  | "attached"
  | "checkpointed"
  | "checkpoint_failed"
  | "handed_over"
  | "kept"
  | "unloaded"
  | "deleted"
  | "lost";

export interface SandboxEvent {
  readonly sandboxId: string;
  readonly type: SandboxEventType;
  readonly at: Date;
  readonly ownerUrl: string;
  /** Of the tenure it happened in. */
  readonly fence: bigint;
  readonly snapshotId?: string;
  readonly reason?: string;
  readonly error?: unknown;
}

export interface SandboxObserver {
  notify(event: SandboxEvent): void;
}
