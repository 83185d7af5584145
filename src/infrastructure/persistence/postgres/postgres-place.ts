import { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Of a configuration of pg, what says where the server is and who asks. Whatever else is in it is left alone. */
export interface PostgresConfig {
  readonly connectionString?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly database?: string | undefined;
  readonly user?: string | undefined;
  /** A function is asked for each connection, so that a token is never older than the connection it opens. */
  readonly password?: string | (() => string | Promise<string>) | undefined;
  readonly ssl?: boolean | object | undefined;
  readonly enableChannelBinding?: boolean | undefined;
  /** Makes the socket of a connection, as the connectors of clouds do. */
  readonly stream?: unknown;
  readonly options?: string | undefined;
  readonly application_name?: string | undefined;
}

/** A URL, a configuration of pg, or a pool of pg, whose configuration is taken and none of its connections. */
export type PostgresPlace = string | PostgresConfig | { readonly options: PostgresConfig };

// By name: a pool hides its password from whoever lists its options.
const TAKEN = [
  "connectionString",
  "host",
  "port",
  "database",
  "user",
  "password",
  "ssl",
  "sslnegotiation",
  "enableChannelBinding",
  "options",
  "application_name",
] as const;

/**
 * What a client of pg has to be told about a place. Throws a `RangeError` in words. It has no type of pg: whoever compiles
 * with these declarations may not have any.
 */
export function configAt(place: PostgresPlace): PostgresConfig {
  if (typeof place === "string") return { connectionString: checked(place) };
  const config = configOf(place);
  const taken = TAKEN.filter((name) => config[name as keyof PostgresConfig] !== undefined);
  return Object.fromEntries(taken.map((name) => [name, config[name as keyof PostgresConfig]]));
}

/** For one connection to that place; it is made here, so that it can be ended without asking anybody. */
export function socketTo(place: PostgresPlace): Duplex {
  if (typeof place === "string") return new Socket();
  const { stream } = configOf(place);
  return stream === undefined ? new Socket() : (stream as () => Duplex)();
}

/** pg takes any scheme for its own. A path is the directory of a socket. */
function checked(url: string): string {
  const [, scheme] = /^([^/:]*):/.exec(url) ?? [];
  if (scheme !== undefined && !/^(postgres(ql)?|socket)$/i.test(scheme))
    throw new RangeError(`PostgreSQL's URL begins with "postgres://", not with "${scheme}:"`);
  return url;
}

function configOf(place: Exclude<PostgresPlace, string>): PostgresConfig {
  const given = place as typeof place | null | undefined;
  if (typeof given !== "object" || given === null)
    throw new RangeError("PostgreSQL needs a URL, a configuration of pg, or a pool of it");
  const config = typeof given.options === "object" ? given.options : (given as PostgresConfig);
  if (config.stream !== undefined && typeof config.stream !== "function")
    throw new RangeError("`stream` has to be a function: each connection needs a socket of its own");
  return config;
}
