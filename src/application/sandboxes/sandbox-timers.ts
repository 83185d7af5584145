/** Time as sandboxes measure it; their own clocks are another matter. */
export interface SandboxTimers {
  /** Never goes back. */
  monotonicMs(): number;
  /** Calls back once, not before that time; returns how to prevent it. */
  after(delayMs: number, callback: () => void): () => void;
}
