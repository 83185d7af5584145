import type { Fault, Operation } from "./fault-plan";

export interface LoggedRequest {
  readonly operation: Operation | "unknown";
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  readonly bucket?: string;
  readonly object?: string;
  fault?: Fault["kind"];
  /** Absent when no answer was given. */
  status?: number;
}

/** Every request that reached the socket, whatever became of it. */
export class RequestLog {
  private entries: LoggedRequest[] = [];
  private readonly watchers = new Set<() => void>();

  get requests(): readonly LoggedRequest[] {
    return this.entries;
  }

  record(request: LoggedRequest): void {
    this.entries.push(request);
    for (const watcher of [...this.watchers]) watcher();
  }

  count(operation?: Operation, object?: string): number {
    return this.entries.filter(
      (entry) =>
        (operation === undefined || entry.operation === operation) &&
        (object === undefined || entry.object === object),
    ).length;
  }

  clear(): void {
    this.entries = [];
  }

  /** Resolves when at least `count` requests of this kind have reached the socket. */
  async reached(operation: Operation, count: number): Promise<void> {
    if (this.count(operation) >= count) return;
    await new Promise<void>((resolve) => {
      const watcher = () => {
        if (this.count(operation) < count) return;
        this.watchers.delete(watcher);
        resolve();
      };
      this.watchers.add(watcher);
    });
  }
}
