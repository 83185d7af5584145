import { PermanentLeaseStoreError, TransientLeaseStoreError } from "../protocol/lease-record-store";
import { openRedis, type RedisClient } from "./redis-driver";
import type { RedisLocation } from "./redis-location";

/** What Redis says to those who may not come in, however often they ask. */
const REFUSED = /(^|-)(NOAUTH|WRONGPASS|NOPERM|ERR (invalid password|Client sent AUTH|DB index))/;
/** A single server's connection has come out in a cluster. */
const IN_A_CLUSTER = /^(MOVED|ASK|CROSSSLOT) /;
/**
 * The server is not, or no longer, the one that may change anything: demoted, cut off from its replicas, or still loading
 * what it has. A connection that stayed with it would be told the same for ever; the address may lead elsewhere by now.
 * Inside of a script the word does not come first.
 */
const NOT_THE_MASTER = /\b(READONLY|MASTERDOWN|LOADING|NOREPLICAS|CLUSTERDOWN)\b/;
/** What a server that is none says to the question that sentinels answer. */
const NO_SENTINEL = /unknown command .?sentinel/i;

/** As `INFO` names it, and what to write in its place. */
const KINDS = { standalone: "redis://", cluster: "redis+cluster://", sentinel: "redis+sentinel://" } as const;

/** The same for a client that was brought. */
const CLIENTS = {
  standalone: "bring a Redis of ioredis, and not a Cluster",
  cluster: "bring a Cluster of ioredis, and not a Redis",
  sentinel: "bring a Redis whose options name it among their `sentinels`",
} as const;

type Scripted<Name extends string> = Record<
  Name,
  (key: string, ...values: readonly string[]) => Promise<unknown>
>;

/** One connection that sends each request once, never keeps one for later, and bounds each in time. */
export class RedisConnection<Name extends string = never> {
  private readonly redis: RedisClient;
  private refusal: Error | undefined;
  private lastFailure: Error | undefined;
  /** This connection is in database 0, whatever was asked for. */
  private wrongDatabase: Error | undefined;
  /** A request of somebody has left this process. */
  hasSent = false;
  private isClosed = false;
  private becomingReady: Promise<void> | undefined;
  private checkingKind: Promise<void> | undefined;

  /** `onMoved` is called when this connection was given up because of what it led to. */
  constructor(
    private readonly location: RedisLocation,
    private readonly timeoutMs: number,
    scripts: Readonly<Record<Name, string>>,
    private readonly onMoved: () => void = () => {},
  ) {
    this.redis = openRedis(location, {
      connectionName: "holdfast",
      timeoutMs,
      scripts: Object.fromEntries(
        Object.entries<string>(scripts).map(([name, lua]) => [name, { lua, numberOfKeys: 1 }]),
      ),
      reconnectOn: NOT_THE_MASTER,
    });
    this.redis.on("error", (error: Error) => {
      // A cluster's client has one error for all nodes, and what one of them said inside of it.
      const { lastNodeError = error } = error as { readonly lastNodeError?: Error };
      this.lastFailure = this.sentinelsInWords(lastNodeError);
      if (REFUSED.test(lastNodeError.message)) this.refusal = lastNodeError;
      if (/cluster support disabled/.test(lastNodeError.message)) this.refusal = this.wrongKind("standalone");
      if (isOfSelect(error)) this.refusal = this.wrongDatabase = databaseRefused(error);
      if (NO_SENTINEL.test(lastNodeError.message)) this.refusal = this.noSentinel();
    });
    this.redis.on("connect", () => (this.wrongDatabase = undefined));
    this.redis.on("ready", () => (this.refusal = this.lastFailure = undefined));
  }

  /** Rejects as a record store does: what may go well the next time is transient. */
  async send<T>(doing: string, request: (redis: RedisClient) => Promise<T>): Promise<T> {
    try {
      const redis = await this.ready();
      this.hasSent = true;
      return await request(redis);
    } catch (error) {
      const failure = this.understood(error as Error);
      const why = `${doing}: ${failure.message}`;
      if (failure === this.refusal || failure === this.wrongDatabase || REFUSED.test(failure.message))
        throw new PermanentLeaseStoreError(why, { cause: failure });
      if (/^WRONGTYPE/.test(failure.message)) throw failure;
      throw new TransientLeaseStoreError(why, { cause: failure });
    }
  }

  /** Runs one of the scripts on one key. */
  run(doing: string, script: Name, key: string, ...values: readonly string[]): Promise<unknown> {
    return this.send(doing, (redis) => (redis as unknown as Scripted<Name>)[script](key, ...values));
  }

  /** Ends it at once, whatever is under way. */
  close(): void {
    this.isClosed = true;
    this.redis.disconnect();
  }

  private understood(error: Error): Error {
    const { message } = error;
    if (IN_A_CLUSTER.test(message)) return (this.refusal = this.wrongKind("cluster"));
    if (NOT_THE_MASTER.test(message)) this.onMoved();
    else if (/^Command timed out/.test(message) && this.location.kind !== "cluster" && !this.isClosed) {
      // The host may have vanished, and its address be elsewhere: nothing on this connection would ever tell.
      this.redis.disconnect(true);
      this.onMoved();
    }
    return error;
  }

  private async ready(): Promise<RedisClient> {
    const { redis } = this;
    if (this.isClosed) throw new Error("the connection is closed");
    // Not awaited: while no sentinel answers, the client tries them in turn and settles nothing.
    if (redis.status === "wait") redis.connect().catch(() => {});
    if (redis.status !== "ready") await (this.becomingReady ??= this.whenReady());
    if (this.wrongDatabase !== undefined) {
      // The client would go on in database 0. The next request asks anew: the server may have been set right by then.
      redis.disconnect(true);
      throw this.wrongDatabase;
    }
    await (this.checkingKind ??= this.checkKind());
    return redis;
  }

  /** Once, when it is first used: what answers to a request or two may still be the wrong kind for the others. */
  private async checkKind(): Promise<void> {
    const wanted = { single: "standalone", sentinel: "standalone", cluster: "cluster" }[this.location.kind];
    try {
      const mode = /^redis_mode:(\w+)/m.exec(await this.redis.info("server"))?.[1];
      if (mode !== undefined && mode in KINDS && mode !== wanted)
        throw (this.refusal = this.wrongKind(mode as keyof typeof KINDS));
    } catch (error) {
      // Who may not ask is not refused for it.
      if (/^NOPERM/.test((error as Error).message)) return;
      this.checkingKind = undefined;
      throw error;
    }
  }

  /** One wait for all who have a request. */
  private whenReady(): Promise<void> {
    const { redis } = this;
    return new Promise<void>((resolve, reject) => {
      const settle = (error?: Error): void => {
        clearTimeout(timer);
        redis.off("ready", ready);
        redis.off("end", ended);
        redis.off("error", failed);
        this.becomingReady = undefined;
        if (error === undefined) resolve();
        else reject(error);
      };
      const ready = (): void => settle();
      const ended = (): void => settle(new Error("the connection is closed"));
      // The client goes on trying by itself. A request fails now and not when its time is over: a caller with less time
      // than that could only report that there was no answer.
      const failed = (): void => settle(this.refusal ?? this.notReached());
      const timer = setTimeout(() => settle(this.refusal ?? this.notReached(this.timeoutMs)), this.timeoutMs);
      redis.once("ready", ready);
      redis.once("end", ended);
      redis.once("error", failed);
    });
  }

  /** The client keeps to itself what became of each sentinel. */
  private sentinelsInWords(error: Error): Error {
    const { location } = this;
    if (location.kind !== "sentinel" || !/^All sentinels are unreachable/.test(error.message)) return error;
    const [, last] = /Last error: (.*)$/s.exec(error.message) ?? [];
    if (last === undefined) return new Error(`no sentinel knows a master named ${location.master}`);
    const at = location.servers.map(({ host, port }) => `${host}:${port}`).join(", ");
    return new Error(`no sentinel answers at ${at}: ${last}`);
  }

  private notReached(withinMs?: number): Error {
    const within = withinMs === undefined ? "" : ` within ${withinMs} ms`;
    const because = this.lastFailure === undefined ? "" : ` (${this.lastFailure.message})`;
    return new Error(`Redis is not reached${within}${because}`);
  }

  private wrongKind(found: keyof typeof KINDS): Error {
    const what = {
      standalone: "a Redis without cluster",
      cluster: "a Redis Cluster",
      sentinel: "a sentinel",
    };
    const bring = this.location.like === undefined ? `its URL begins with ${KINDS[found]}` : CLIENTS[found];
    return new Error(`this is ${what[found]}: ${bring}`);
  }

  private noSentinel(): Error {
    const otherwise =
      this.location.like === undefined
        ? "the URL of a single Redis begins with redis://, that of a cluster with redis+cluster://"
        : "leave `sentinels` out of the client's options, or name those that know the master";
    return new Error(`this is no sentinel: ${otherwise}`);
  }
}

/** The client says which request was refused. */
function isOfSelect(error: Error): boolean {
  return (error as { readonly command?: { readonly name?: string } }).command?.name === "select";
}

function databaseRefused(error: Error): Error {
  return new Error(`the database in the URL is refused: ${error.message}`, { cause: error });
}
