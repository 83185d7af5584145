import { loadRedis, type Redis } from "./redis-driver";

const RECONNECT_AT_MOST_EVERY_MS = 1_000;

/**
 * Tells of releases, over a connection of its own that is made when somebody first waits. A notice that is lost costs its
 * waiter a second and nothing else: who waits looks by itself as well.
 */
export class RedisNotices {
  private readonly wakers = new Map<string, Set<() => void>>();
  private subscriber: Redis | undefined;

  constructor(
    private readonly url: string,
    readonly channel: string,
  ) {}

  listen(id: string, wake: () => void): () => void {
    this.subscribe();
    const wakers = this.wakers.get(id) ?? new Set();
    this.wakers.set(id, wakers.add(wake));
    return () => {
      wakers.delete(wake);
      if (wakers.size === 0 && this.wakers.get(id) === wakers) this.wakers.delete(id);
    };
  }

  close(): void {
    this.subscriber?.disconnect();
  }

  private subscribe(): void {
    if (this.subscriber !== undefined) return;
    const Redis = loadRedis();
    const subscriber = new Redis(this.url, {
      connectionName: "holdfast notices",
      retryStrategy: (attempt) => Math.min(50 * attempt, RECONNECT_AT_MOST_EVERY_MS),
    });
    this.subscriber = subscriber;
    subscriber.on("error", () => {});
    subscriber.on("message", (_channel: string, id: string) =>
      this.wakers.get(id)?.forEach((wake) => wake()),
    );
    subscriber.subscribe(this.channel).catch(() => {});
  }
}
