import { createRequire } from "node:module";
import type * as IoRedis from "ioredis";
import { PLAIN } from "./brought-redis";
import type { IoRedisClient, RedisLocation } from "./redis-location";

/** One server, whichever the sentinels name at the time, or a cluster: the same to whoever has one key per request. */
export type RedisClient = IoRedis.Redis | IoRedis.Cluster;

export type { Redis } from "ioredis";

export interface RedisClientOptions {
  readonly connectionName: string;
  /** For a connection, and for the answer to a request. */
  readonly timeoutMs: number;
  readonly scripts?: Readonly<Record<string, { readonly lua: string; readonly numberOfKeys: number }>>;
  /** A server said something after which another one may answer under its address: connect anew. */
  readonly reconnectOn: RegExp;
}

const RECONNECT_AT_MOST_EVERY_MS = 1_000;
const DISCONNECT_MS = 50;
const reconnectAfterMs = (attempt: number): number => Math.min(50 * attempt, RECONNECT_AT_MOST_EVERY_MS);

/** Loaded on first use: who locks elsewhere never loads Redis's client. Connects when it is told to. */
export function openRedis(location: RedisLocation, options: RedisClientOptions): RedisClient {
  const { connectionName, timeoutMs, scripts = {}, reconnectOn } = options;
  const each = {
    connectionName,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    // A server that fell silent does not take leave, and a socket that waits for it keeps the process from ending.
    disconnectTimeout: DISCONNECT_MS,
    // A request that is sent again by itself turns "it was I" into a conflict; one that is kept arrives too late.
    maxRetriesPerRequest: 1,
    autoResendUnfulfilledCommands: false,
    // What was subscribed to is said again with each connection, by whoever wants it.
    autoResubscribe: false,
    reconnectOnError: ({ message }: Error) => reconnectOn.test(message),
  };
  // Sent by their digest, and whole only to a server that does not know them: that one has not run them.
  const whole = { scripts, lazyConnect: true, enableOfflineQueue: false };
  const one = { ...each, ...whole, retryStrategy: reconnectAfterMs };
  const throughSentinels = {
    sentinelRetryStrategy: reconnectAfterMs,
    sentinelCommandTimeout: timeoutMs,
    failoverDetector: true,
  };
  const cluster = {
    ...whole,
    slotsRefreshTimeout: timeoutMs,
    slotsRefreshInterval: 5_000,
    retryDelayOnFailover: 0,
    clusterRetryStrategy: reconnectAfterMs,
  };
  if (location.like !== undefined)
    return copyOf(location.like, each, { ...one, ...throughSentinels }, cluster);
  const { Redis, Cluster } = createRequire(__filename)("ioredis") as typeof IoRedis;
  if (location.kind === "single") return new Redis(location.url, one);
  const { servers, tls, username, password } = location;
  const login = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
  };
  if (location.kind === "cluster")
    return new Cluster([...servers], { ...cluster, redisOptions: { ...each, ...login } });
  return new Redis({
    ...one,
    ...login,
    ...throughSentinels,
    sentinels: [...servers],
    name: location.master,
    db: location.db,
    enableTLSForSentinelMode: tls,
    ...(tls ? { sentinelTLS: {} } : {}),
  });
}

/** Goes where the client goes, with its credentials and its TLS. How requests are sent is the locks' own matter. */
function copyOf(client: IoRedisClient, each: object, one: object, cluster: object): RedisClient {
  const copy = client.isCluster
    ? client.duplicate([], {
        ...PLAIN,
        ...cluster,
        scaleReads: "master",
        shardedSubscribers: false,
        redisOptions: { ...PLAIN, ...each },
      })
    : client.duplicate({ ...PLAIN, ...one });
  return copy as RedisClient;
}

/** Each server that has keys. */
export function mastersOf(client: RedisClient): readonly IoRedis.Redis[] {
  return client.isCluster ? (client as IoRedis.Cluster).nodes("master") : [client as IoRedis.Redis];
}
