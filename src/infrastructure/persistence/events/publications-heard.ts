/**
 * Tells readers in this process that it has published. Counts, so that what comes between a look and the wait after it
 * is not missed.
 */
export class PublicationsHeard {
  private times = 0;
  private readonly waiting = new Set<() => void>();

  get count(): number {
    return this.times;
  }

  published(): void {
    this.times += 1;
    for (const wake of [...this.waiting]) wake();
  }

  changed(since: number, withinMs: number, signal?: AbortSignal): Promise<void> {
    if (this.times !== since || signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(limit);
        signal?.removeEventListener("abort", wake);
        this.waiting.delete(wake);
        resolve();
      };
      const limit = setTimeout(wake, withinMs);
      signal?.addEventListener("abort", wake, { once: true });
      this.waiting.add(wake);
    });
  }
}
