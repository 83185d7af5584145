import { watch, type FSWatcher } from "node:fs";
import { basename } from "node:path";

/**
 * Tells when a lock file in one directory changes, so that waiters need not sleep out their pause. A hint and no more:
 * where it fails (no more watches, a network filesystem), they find out by asking. One watch per directory, there as
 * long as anybody listens.
 */
export class ReleaseWatch {
  private readonly listeners = new Map<string, Set<() => void>>();
  private watcher: FSWatcher | undefined;

  constructor(private readonly directory: string) {}

  listen(path: string, wake: () => void): () => void {
    const name = basename(path);
    const wakes = this.listeners.get(name) ?? new Set();
    wakes.add(wake);
    this.listeners.set(name, wakes);
    this.watcher ??= this.open();
    return () => {
      wakes.delete(wake);
      if (wakes.size === 0 && this.listeners.get(name) === wakes) this.listeners.delete(name);
      if (this.listeners.size === 0) this.close();
    };
  }

  close(): void {
    this.watcher?.close();
    this.watcher = undefined;
  }

  private open(): FSWatcher | undefined {
    try {
      // Not persistent: whoever waits has a timer of its own.
      const watcher = watch(this.directory, { persistent: false }, (_event, name) => {
        for (const wake of [...(this.listeners.get(name ?? "") ?? [])]) wake();
      });
      watcher.on("error", () => this.close());
      return watcher;
    } catch {
      return undefined;
    }
  }
}
