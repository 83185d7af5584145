/** Time as sandboxes measure it; their own clocks are another matter. */
export interface SandboxTimers {
  /** Never goes back. */
  monotonicMs(): number;
  /** Calls back once, not before that time; returns how to prevent it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** False if the time is over first. `work` must not reject. */
export async function settledWithin(
  work: Promise<void>,
  ms: number,
  timers: SandboxTimers,
): Promise<boolean> {
  let cancel: () => void = () => undefined;
  const late = new Promise<false>((resolve) => (cancel = timers.after(ms, () => resolve(false))));
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    cancel();
  }
}
