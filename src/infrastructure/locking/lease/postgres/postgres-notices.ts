import type { PostgresDatabase } from "../../../persistence/postgres/postgres-database";
import type { QueryConfig } from "../../../persistence/postgres/postgres-driver";

const RECONNECT_AFTER_MS = 1_000;
/** Nothing arrives where nothing is released: only a question shows that the connection still leads somewhere. */
const ASK_EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 3_000;

/** What the driver's types leave out. */
interface Unreferenced {
  unref(): void;
}

/**
 * Tells of releases, over a connection of its own that is made when somebody first waits. A notice that is lost costs its
 * waiter a second and nothing else: who waits looks by itself as well.
 */
export class PostgresNotices {
  private readonly wakers = new Map<string, Set<() => void>>();
  private readonly closing = new AbortController();
  private listening: Promise<void> | undefined;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly channel: string,
  ) {}

  listen(key: string, wake: () => void): () => void {
    this.listening ??= this.keepListening();
    const wakers = this.wakers.get(key) ?? new Set();
    this.wakers.set(key, wakers.add(wake));
    return () => {
      wakers.delete(wake);
      if (wakers.size === 0 && this.wakers.get(key) === wakers) this.wakers.delete(key);
    };
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.listening;
  }

  private async keepListening(): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      await this.listenOnce(signal).catch(() => {});
      await aborted(signal, RECONNECT_AFTER_MS);
    }
  }

  /** Until the connection ends, or we do. */
  private async listenOnce(signal: AbortSignal): Promise<void> {
    await this.database.session(async (client) => {
      client.on("notification", ({ payload }) => this.wakers.get(payload ?? "")?.forEach((wake) => wake()));
      // Who waits has a timer of its own; without a waiter the session must not keep a process that has nothing to do.
      (client as typeof client & Unreferenced).unref();
      const ended = new Promise<void>((resolve) => client.once("end", resolve));
      const ask = (text: string): Promise<unknown> =>
        client.query({ text, query_timeout: ANSWER_WITHIN_MS } as QueryConfig);
      await ask(`LISTEN ${this.channel}`);
      let isSilent!: () => void;
      const silent = new Promise<void>((resolve) => (isSilent = resolve));
      const asking = setInterval(() => {
        if (this.wakers.size > 0) ask("SELECT 1").catch(isSilent);
      }, ASK_EVERY_MS).unref();
      await Promise.race([ended, silent, aborted(signal)]);
      clearInterval(asking);
    });
  }
}

function aborted(signal: AbortSignal, withinMs?: number): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = withinMs === undefined ? undefined : setTimeout(done, withinMs).unref();
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
