const TICK_MS = 20;
/** Timers are late by a little on any machine. */
const USUAL_MS = 2;

/**
 * For how long this process did not get to run, since this was made: nobody can be blamed for what became late meanwhile.
 * Sampled, so it sees what stops the whole event loop for longer than a tick.
 */
export class Stalls {
  private stalledMs = 0;
  private tickedMs = performance.now();
  private readonly ticking = setInterval(() => {
    this.stalledMs += this.sinceTickMs();
    this.tickedMs = performance.now();
  }, TICK_MS).unref();

  /** How long something takes, without what the machine did not let this process do. */
  stopwatch(): () => number {
    const [beganMs, hadStalledMs] = [performance.now(), this.stalledMs + this.sinceTickMs()];
    return () => performance.now() - beganMs - (this.stalledMs + this.sinceTickMs() - hadStalledMs);
  }

  end(): void {
    clearInterval(this.ticking);
  }

  private sinceTickMs(): number {
    const lateMs = performance.now() - this.tickedMs - TICK_MS;
    return lateMs > USUAL_MS ? lateMs : 0;
  }
}
