import { loadRedis, type Redis } from "./redis-driver";
import { PermanentLeaseStoreError, TransientLeaseStoreError } from "./lease-record-store";

const RECONNECT_AT_MOST_EVERY_MS = 1_000;
/** What Redis says to those who may not come in, however often they ask. */
const REFUSED = /^(NOAUTH|WRONGPASS|NOPERM|ERR (invalid password|Client sent AUTH|DB index))/;

type Scripted<Name extends string> = Record<
  Name,
  (key: string, ...values: readonly string[]) => Promise<unknown>
>;

/** One connection that sends each request once, never keeps one for later, and bounds each in time. */
export class RedisConnection<Name extends string = never> {
  private readonly redis: Redis;
  private refusal: Error | undefined;
  private isClosed = false;
  private becomingReady: Promise<void> | undefined;

  constructor(
    url: string,
    private readonly timeoutMs: number,
    scripts: Readonly<Record<Name, string>>,
  ) {
    const Redis = loadRedis();
    this.redis = new Redis(url, {
      lazyConnect: true,
      connectionName: "holdfast",
      connectTimeout: timeoutMs,
      commandTimeout: timeoutMs,
      // A request that is sent again by itself turns "it was I" into a conflict; one that is kept arrives too late.
      maxRetriesPerRequest: 1,
      autoResendUnfulfilledCommands: false,
      enableOfflineQueue: false,
      // Sent by their digest, and whole only to a server that does not know them: that one has not run them.
      scripts: Object.fromEntries(
        Object.entries<string>(scripts).map(([name, lua]) => [name, { lua, numberOfKeys: 1 }]),
      ),
      retryStrategy: (attempt) => Math.min(50 * attempt, RECONNECT_AT_MOST_EVERY_MS),
    });
    this.redis.on("error", (error: Error) => {
      if (REFUSED.test(error.message)) this.refusal = error;
    });
    this.redis.on("ready", () => (this.refusal = undefined));
  }

  /** Rejects as a record store does: what may go well the next time is transient. */
  async send<T>(doing: string, request: (redis: Redis) => Promise<T>): Promise<T> {
    try {
      return await request(await this.ready());
    } catch (error) {
      const { message } = error as Error;
      const why = `${doing}: ${message}`;
      if (error === this.refusal || REFUSED.test(message))
        throw new PermanentLeaseStoreError(why, { cause: error });
      if (/^WRONGTYPE/.test(message)) throw error;
      throw new TransientLeaseStoreError(why, { cause: error });
    }
  }

  /** Runs one of the scripts on one key. */
  run(doing: string, script: Name, key: string, ...values: readonly string[]): Promise<unknown> {
    return this.send(doing, (redis) => (redis as Redis & Scripted<Name>)[script](key, ...values));
  }

  /** Ends it at once, whatever is under way. */
  close(): void {
    this.isClosed = true;
    this.redis.disconnect();
  }

  private async ready(): Promise<Redis> {
    const { redis } = this;
    if (this.isClosed) throw new Error("the connection is closed");
    if (redis.status === "wait") await redis.connect().catch(() => {});
    if (redis.status !== "ready") await (this.becomingReady ??= this.whenReady());
    return redis;
  }

  /** One wait for all who have a request. */
  private whenReady(): Promise<void> {
    const { redis } = this;
    return new Promise<void>((resolve, reject) => {
      const settle = (error?: Error): void => {
        clearTimeout(timer);
        redis.off("ready", settle);
        this.becomingReady = undefined;
        if (error === undefined) resolve();
        else reject(error);
      };
      const timer = setTimeout(
        () => settle(this.refusal ?? new Error(`Redis is not reached within ${this.timeoutMs} ms`)),
        this.timeoutMs,
      );
      redis.once("ready", settle);
    });
  }
}
