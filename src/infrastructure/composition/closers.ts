/** What has been opened, closed in reverse. One that fails does not keep the others open. */
export class Closers {
  private readonly stack: (() => void | Promise<void>)[] = [];

  add(close: () => void | Promise<void>): void {
    this.stack.push(close);
  }

  /** False if it is not done by then; what is under way goes on. */
  async closeWithin(limitMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), limitMs);
    });
    const closed = this.close().then(() => true);
    return Promise.race([closed, limit]).finally(() => clearTimeout(timer));
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
    if (failures.length > 0) throw new AggregateError(failures, "not everything could be closed");
  }
}
