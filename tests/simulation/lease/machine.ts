import type { LockClock } from "../../../src/infrastructure/locking/lock-clock";
import type { World } from "./world";

export interface ClockFaults {
  /** Monotonic milliseconds per true millisecond. */
  readonly rate: number;
  readonly wallSkewMs: number;
}

const SHORTEST_STEP_MS = 1e-3;
const EPOCH_MS = Date.UTC(2026, 10, 18);

/** One process: its clocks, and whether it is running, standing still, or gone. */
export class Machine {
  isAlive = true;
  private stillUntilMs = 0;
  /** True time during which the monotonic clock stood still with the machine. */
  private sleptMs = 0;
  private lastStillMs = -Infinity;

  constructor(
    readonly name: string,
    private readonly world: World,
    private readonly clocks: ClockFaults,
  ) {}

  readonly clock: LockClock = {
    monotonicMs: () => this.monotonicMs(),
    wallMs: () => Math.floor(EPOCH_MS + this.world.nowMs + this.clocks.wallSkewMs),
    after: (delayMs, callback) => this.after(delayMs, callback),
  };

  /** Runs `callback` here at that moment, or when the machine runs again; never if it is gone by then. */
  at(atMs: number, callback: () => void): () => void {
    let cancelled = false;
    let cancel = (): void => undefined;
    const attempt = (): void => {
      if (cancelled || !this.isAlive) return;
      if (this.stillUntilMs > this.world.nowMs) cancel = this.world.at(this.stillUntilMs, attempt);
      else callback();
    };
    cancel = this.world.at(atMs, attempt);
    return () => {
      cancelled = true;
      cancel();
    };
  }

  /** Something that it set off and that happens elsewhere, whether or not it is still running. */
  later(delayMs: number, callback: () => void): void {
    this.world.in(delayMs, callback);
  }

  get trueNowMs(): number {
    return this.world.nowMs;
  }

  pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  /** Stands still for a while. Asleep, its monotonic clock stands still, too. */
  stall(durationMs: number, asleep: boolean): void {
    this.world.note(this.name, `${asleep ? "sleeps" : "stalls"} for ${Math.round(durationMs)} ms`);
    if (asleep) this.sleptMs += durationMs;
    this.stillUntilMs = this.world.nowMs + durationMs;
    this.lastStillMs = this.stillUntilMs;
  }

  crash(): void {
    this.world.note(this.name, "crashes");
    this.isAlive = false;
  }

  get isStill(): boolean {
    return this.stillUntilMs > this.world.nowMs;
  }

  /** Whether it stood still at some moment since then. */
  stoodStillSince(sinceMs: number): boolean {
    return this.lastStillMs >= sinceMs;
  }

  private monotonicMs(): number {
    const { nowMs } = this.world;
    // While it sleeps nobody looks; the whole sleep was taken off when it began.
    return Math.max(0, nowMs - this.sleptMs) * this.clocks.rate;
  }

  private after(delayMs: number, callback: () => void): () => void {
    const dueMs = this.monotonicMs() + delayMs;
    let cancel = (): void => undefined;
    const arm = (): void => {
      // Never too early, and never so little later that true time would not move at all.
      const leftMs = Math.max((dueMs - this.monotonicMs()) / this.clocks.rate, SHORTEST_STEP_MS);
      cancel = this.at(this.world.nowMs + leftMs, () => {
        if (this.monotonicMs() < dueMs) arm();
        else callback();
      });
    };
    arm();
    return () => cancel();
  }
}
