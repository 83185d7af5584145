import type { ServerResponse } from "node:http";
import type { Lifecycle } from "../../../interfaces/http/server/lifecycle";

/** Longer than the longest hold of a lock. */
const END_WITHIN_MS = 30_000;

/** What somebody still waits for, and nothing new once it is to end. */
export class UnderWay {
  private readonly works = new Set<Promise<unknown>>();

  constructor(private readonly lifecycle: Lifecycle) {}

  async run<T>(begin: () => Promise<T>): Promise<T> {
    this.lifecycle.assertServing();
    const work = begin();
    this.add(work);
    return work;
  }

  /** An answer is there when its connection has it, or is gone. */
  await(response: ServerResponse): void {
    // Whoever has left will not leave again.
    if (response.closed || response.destroyed) return;
    this.add(new Promise<void>((resolve) => response.once("close", resolve)));
  }

  async end(): Promise<void> {
    this.lifecycle.leave();
    this.lifecycle.drain();
    let timer: NodeJS.Timeout | undefined;
    const outOfTime = new Promise<void>((resolve) => (timer = setTimeout(resolve, END_WITHIN_MS)));
    await Promise.race([Promise.allSettled(this.works), outOfTime]);
    clearTimeout(timer);
  }

  private add(work: Promise<unknown>): void {
    const entry = work.then(
      () => {},
      () => {},
    );
    this.works.add(entry);
    void entry.then(() => this.works.delete(entry));
  }
}
