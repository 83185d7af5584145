/**
 * A client of ioredis: a `Redis`, by itself or through sentinels, or a `Cluster`. What it was configured with is taken
 * for connections of their own; the client itself is neither used nor closed.
 */
export interface IoRedisClient {
  readonly isCluster: boolean;
  readonly options: object;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a single client's and a cluster's differ, and so do versions
  duplicate(...overrides: any[]): object;
}

/** A URL, or a client of ioredis that somebody has. */
export type RedisPlace = string | IoRedisClient;

/** Where a Redis is, and of which kind. */
export type RedisLocation =
  | (Like & { readonly kind: "single"; readonly url: string })
  | (Like & Servers & { readonly kind: "cluster" })
  | (Like & Servers & { readonly kind: "sentinel"; readonly master: string; readonly db: number });

interface Like {
  /** Connections are made as this client's are; the rest is what people are told. */
  readonly like?: IoRedisClient;
}

interface Servers {
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
}

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26379;
const DATABASE = /^\d{1,9}$/;
/** Scheme with its kind, credentials, servers by comma, and the rest. */
const SEVERAL = /^(rediss?)\+(cluster|sentinel):\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/?#]+)(?:\/([^?#]*))?$/;

/**
 * `redis://` and `rediss://` as they are; `redis+cluster://host:port,host:port` names some of a cluster's nodes, and
 * `redis+sentinel://host:port,host:port/master-name/0` the sentinels of one master. Throws a `RangeError` in words.
 */
export function redisLocation(url: string): RedisLocation {
  if (/^rediss?:\/\//.test(url)) return { kind: "single", url: withDatabase(url) };
  const found = SEVERAL.exec(url);
  if (found === null) throw new RangeError("it is none of redis://, redis+cluster:// and redis+sentinel://");
  const [, scheme, kind, username = "", password, servers = "", path = ""] = found;
  const common = {
    tls: scheme === "rediss",
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === undefined ? {} : { password: decodeURIComponent(password) }),
  };
  const at = servers.split(",").map((each) => server(each, kind === "cluster" ? REDIS_PORT : SENTINEL_PORT));
  if (kind === "cluster") {
    if (path !== "" && path !== "0") throw new RangeError("a Redis Cluster has no databases but 0");
    return { kind, servers: at, ...common };
  }
  const [master = "", db = "0", ...more] = path.split("/");
  if (master === "" || more.length > 0 || !DATABASE.test(db))
    throw new RangeError("after the sentinels comes /<name of the master>, and perhaps /<database>");
  return { kind: "sentinel", servers: at, master: decodeURIComponent(master), db: Number(db), ...common };
}

/** The client would take any path, or `?db=`, for the number of a database. */
function withDatabase(url: string): string {
  if (!URL.canParse(url)) throw new RangeError("it is no URL");
  const { pathname, searchParams } = new URL(url);
  for (const db of [pathname.slice(1), searchParams.get("db") ?? ""]) {
    if (db !== "" && !DATABASE.test(db))
      throw new RangeError(`"${db}" is no database: after the server comes /<number>, or nothing`);
  }
  return url;
}

function server(text: string, defaultPort: number): { readonly host: string; readonly port: number } {
  const found = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i.exec(text);
  const port = Number(found?.[2] ?? defaultPort);
  if (found?.[1] === undefined || port < 1 || port > 65_535)
    throw new RangeError(`"${text}" is no server: host or host:port`);
  return { host: found[1].replace(/^\[|\]$/g, ""), port };
}
