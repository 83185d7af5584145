import { redisLocation, type IoRedisClient, type RedisLocation, type RedisPlace } from "./redis-location";

interface SentinelOptions {
  readonly sentinels?: readonly { readonly host?: string; readonly port?: number }[] | null;
  readonly name?: string;
}

/** Throws a `RangeError` in words. */
export function locationOf(place: RedisPlace): RedisLocation {
  return typeof place === "string" ? redisLocation(place) : locationLike(place);
}

function locationLike(client: IoRedisClient): RedisLocation {
  const given = client as Partial<IoRedisClient> | null | undefined;
  // Other libraries' clients have a `duplicate`, too.
  if (typeof given?.duplicate !== "function" || typeof given.isCluster !== "boolean")
    throw new RangeError("locks in Redis need a URL, or a client of ioredis (a Redis or a Cluster)");
  if (client.isCluster) return { kind: "cluster", servers: [], tls: false, like: client };
  const { sentinels, name = "" } = client.options as SentinelOptions;
  if (sentinels === undefined || sentinels === null) return { kind: "single", url: "", like: client };
  const servers = sentinels.map(({ host = "127.0.0.1", port = 26_379 }) => ({ host, port }));
  return { kind: "sentinel", servers, tls: false, master: name, db: 0, like: client };
}

/** What a client may be set to for its owner's comfort, and a lock must not meet: its keys and answers are exact. */
export const PLAIN = {
  keyPrefix: "",
  readOnly: false,
  stringNumbers: false,
  replyMapping: "legacy",
  enableAutoPipelining: false,
  enableReadyCheck: true,
  monitor: false,
  // A replica, and one that is quiet because nothing is released.
  role: "master",
  socketTimeout: undefined,
  himportFieldsets: undefined,
} as const;
