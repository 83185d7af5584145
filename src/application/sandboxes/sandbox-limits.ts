/** Bounds of what one instance does for sandboxes. */
export interface SandboxLimits {
  /** In memory at the same time. */
  readonly sandboxes: number;
  /** Of one snapshot. */
  readonly snapshotBytes: number;
  /** Snapshots of one sandbox that somebody asked for. */
  readonly keptSnapshots: number;
  /** How long a hand-off waits for requests under way. */
  readonly drainMs: number;
  /** How long a request waits while a sandbox is being handed over, checkpointed for the last time or deleted. */
  readonly waitMs: number;
  /** A changed sandbox is checkpointed this often. */
  readonly checkpointEveryMs: number;
  /** An unused one leaves memory after this. */
  readonly idleMs: number;
  /** How long the next owner may take to say who it is, after the lock was released to it. */
  readonly claimMs: number;
}

export const sandboxLimits: SandboxLimits = {
  sandboxes: 100,
  snapshotBytes: 32 * 1024 * 1024,
  keptSnapshots: 100,
  // Longer than any request with a gateway that answers; with the look for waiters and the last checkpoint it still fits
  // into the 20 s that the next owner waits.
  drainMs: 8_000,
  waitMs: 20_000,
  checkpointEveryMs: 30_000,
  idleMs: 900_000,
  claimMs: 3_000,
};
