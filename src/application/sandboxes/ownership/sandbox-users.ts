import type { SandboxTimers } from "./sandbox-timers";

/** Who is inside a sandbox, and since when nobody is. */
export class SandboxUsers {
  private count = 0;
  private onQuiet: (() => void) | undefined;
  private lastUsedMs: number;

  constructor(private readonly timers: SandboxTimers) {
    this.lastUsedMs = timers.monotonicMs();
  }

  get isEmpty(): boolean {
    return this.count === 0;
  }

  get idleMs(): number {
    return this.isEmpty ? this.timers.monotonicMs() - this.lastUsedMs : 0;
  }

  enter(): void {
    this.count += 1;
  }

  leave(): void {
    this.count -= 1;
    this.lastUsedMs = this.timers.monotonicMs();
    if (this.isEmpty) this.onQuiet?.();
  }

  /** Resolves when nobody is inside. Bounded: a hanging request must not keep the sandbox from whoever waits for it. */
  drained(withinMs: number): Promise<void> {
    if (this.isEmpty) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        this.onQuiet = undefined;
        resolve();
      };
      const cancel = this.timers.after(withinMs, end);
      this.onQuiet = end;
    });
  }
}
