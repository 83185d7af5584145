import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";

/** Enough for what needs no answer from another process. */
const CLOSING_LOCALLY_MS = 50;

/** What has been opened, closed in reverse. One that fails does not keep the others open. */
export class Closers {
  private readonly stack: (() => void | Promise<void>)[] = [];

  /** `undefined`: there is nothing to close. */
  add(close: (() => void | Promise<void>) | undefined): void {
    if (close !== undefined) this.stack.push(close);
  }

  /** False if it is not done by then, or when it is said to be enough; what is under way goes on. */
  async closeWithin(limitMs: number, enough: AbortSignal): Promise<boolean> {
    const closed = this.close().then(() => true);
    const over = new AbortController();
    const { signal } = over;
    const limit = pause(limitMs, false, { signal });
    const called = (enough.aborted ? Promise.resolve() : once(enough, "abort", { signal })).then(() =>
      pause(CLOSING_LOCALLY_MS, false, { signal }),
    );
    // What is called off when the race is over rejects, which is of no interest any more.
    return Promise.race([closed, limit, called]).finally(() => {
      for (const late of [limit, called]) late.catch(() => {});
      over.abort();
    });
  }

  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.stack.pop(); close !== undefined; close = this.stack.pop()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, "some resources could not be closed");
  }
}
