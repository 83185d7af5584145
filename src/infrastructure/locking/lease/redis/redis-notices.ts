import { openRedis, type RedisClient } from "./redis-driver";
import type { RedisLocation } from "./redis-location";

const CONNECT_WITHIN_MS = 5_000;
/** Nothing arrives where nothing is released: only a question shows that the connection still leads somewhere. */
const ASK_EVERY_MS = 5_000;
const NEVER = /(?!)/;

/**
 * Tells of releases, over a connection of its own that is made when somebody first waits. A notice that is lost costs its
 * waiter a second and nothing else: who waits looks by itself as well.
 */
export class RedisNotices {
  private readonly wakers = new Map<string, Set<() => void>>();
  private subscriber: RedisClient | undefined;
  private asking: NodeJS.Timeout | undefined;

  constructor(
    private readonly location: RedisLocation,
    readonly channel: string,
  ) {}

  listen(id: string, wake: () => void): () => void {
    this.connect();
    const wakers = this.wakers.get(id) ?? new Set();
    this.wakers.set(id, wakers.add(wake));
    return () => {
      wakers.delete(wake);
      if (wakers.size === 0 && this.wakers.get(id) === wakers) this.wakers.delete(id);
    };
  }

  /** The releases may be told elsewhere by now. */
  reconnect(): void {
    if (this.subscriber?.status === "ready") this.subscriber.disconnect(true);
  }

  close(): void {
    clearInterval(this.asking);
    this.subscriber?.disconnect();
  }

  private connect(): void {
    if (this.subscriber !== undefined) return;
    const subscriber = openRedis(this.location, {
      connectionName: "holdfast notices",
      timeoutMs: CONNECT_WITHIN_MS,
      reconnectOn: NEVER,
    });
    this.subscriber = subscriber;
    subscriber.on("error", () => {});
    subscriber.on("message", (_channel: string, id: string) =>
      this.wakers.get(id)?.forEach((wake) => wake()),
    );
    // With each connection anew, the first one included: it may come about long after the first wait.
    subscriber.on("ready", () => this.subscribe(subscriber));
    subscriber.connect().catch(() => {});
    this.asking = setInterval(() => {
      if (this.wakers.size > 0 && subscriber.status === "ready") this.subscribe(subscriber);
    }, ASK_EVERY_MS).unref();
  }

  /** Said again it changes nothing, and its answer shows that the connection is alive. */
  private subscribe(subscriber: RedisClient): void {
    subscriber.subscribe(this.channel).catch(() => this.reconnect());
  }
}
