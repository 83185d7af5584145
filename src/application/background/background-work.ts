import type { PassReport } from "./background-pass";

export interface BackgroundWorkParts {
  /** In the order in which they run: what one leaves due, the next one can finish at once. */
  readonly passes: readonly {
    readonly name: string;
    readonly run: (signal: AbortSignal) => Promise<PassReport>;
  }[];
  readonly intervalMs: number;
  /** Resolves after that time, or as soon as the signal fires. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onReport: (name: string, report: PassReport) => void;
  readonly onError: (name: string, error: unknown) => void;
}

/** Runs the passes one after the other, again and again, until it is stopped. A failing pass does not end it. */
export class BackgroundWork {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(private readonly parts: BackgroundWorkParts) {}

  start(): void {
    this.running ??= this.loop(this.stopping.signal);
  }

  /** Resolves when the payments that are being worked on are done. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async loop(signal: AbortSignal): Promise<void> {
    const { passes, intervalMs, sleep, onReport, onError } = this.parts;
    while (!signal.aborted) {
      for (const { name, run } of passes) {
        try {
          onReport(name, await run(signal));
        } catch (error) {
          onError(name, error);
        }
      }
      await sleep(intervalMs, signal);
    }
  }
}
