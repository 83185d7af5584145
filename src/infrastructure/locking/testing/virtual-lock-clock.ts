import type { LockClock } from "../lock-clock";

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * Time that passes when the test says so, one timer after another. In between everything runs that needs neither a timer
 * nor input or output; real requests are not waited for.
 */
export class VirtualLockClock implements LockClock {
  private nowMs = 0;
  private order = 0;
  private readonly timers = new Set<Timer>();

  monotonicMs(): number {
    return this.nowMs;
  }

  wallMs(): number {
    return Date.UTC(2026, 10, 18) + this.nowMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.nowMs + delayMs, order: (this.order += 1), callback };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  /** Time goes by, and nothing runs, as in a stopped process: what was due happens with the next `advance`. */
  stall(ms: number): void {
    this.nowMs += ms;
  }

  get pendingTimers(): number {
    return this.timers.size;
  }

  /** Time goes by, and all that becomes due in it happens when it is due. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    await settled();
    for (let timer = this.nextDue(untilMs); timer !== undefined; timer = this.nextDue(untilMs)) {
      this.timers.delete(timer);
      this.nowMs = Math.max(this.nowMs, timer.dueMs);
      timer.callback();
      await settled();
    }
    this.nowMs = untilMs;
  }

  private nextDue(untilMs: number): Timer | undefined {
    return [...this.timers]
      .filter(({ dueMs }) => dueMs <= untilMs)
      .sort((a, b) => a.dueMs - b.dueMs || a.order - b.order)[0];
  }
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
