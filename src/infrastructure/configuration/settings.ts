import { resolve } from "node:path";
import { parseGateway, parseLocks, parseSnapshots, parseStore } from "./adapter-urls";
import { SettingError } from "./setting-source";

/** One setting: its names in each source, and how its text is read. The flag's name is also the key in the file. */
export interface Setting<T, Fallback extends string | null = string | null> {
  readonly flag: string;
  readonly environment: string;
  /** For `--help`. */
  readonly argument: string;
  readonly describe: string;
  /** As text, so that it takes the same way as a value somebody wrote; null when it follows from something else. */
  readonly fallback: Fallback;
  readonly secret?: true;
  /** Throws `SettingError`. */
  readonly parse: (text: string) => T;
}

/** Every setting there is but the lock timeouts, which have scopes and live in `lock-timeouts.ts`. */
export const settings = {
  store: setting({
    flag: "store",
    argument: "<url>",
    describe: "where payments are kept: sqlite:<file>, postgres://…, memory:",
    fallback: "sqlite:./data/holdfast.db",
    parse: parseStore,
  }),
  acceptLostLog: setting({
    flag: "accept-lost-log",
    argument: "",
    describe: "go on, for this start, with a SQLite file whose log was lost or damaged after an unclean stop",
    fallback: "false",
    parse: parseBoolean,
  }),
  storeConnections: setting({
    flag: "store-connections",
    argument: "<number>",
    describe: "connections of this process to a PostgreSQL store, at most; its locks take one more",
    fallback: "10",
    parse: (text) => parseWhole(text, 1, 1_000),
  }),
  locks: setting({
    flag: "locks",
    argument: "<url>",
    describe:
      "what keeps callers apart: memory:, none:, file:<dir>, postgres:, postgres://…, redis://…, gs://bucket/prefix",
    fallback: null,
    parse: parseLocks,
  }),
  allowUnlocked: setting({
    flag: "allow-unlocked",
    argument: "",
    describe: "accept locks=none:",
    fallback: "false",
    parse: parseBoolean,
  }),
  gateway: setting({
    flag: "gateway",
    argument: "<url>",
    describe: "who moves the money: simulated:, stripe:",
    fallback: "simulated:",
    parse: parseGateway,
  }),
  stripeUrl: setting({
    flag: "stripe-url",
    argument: "<url>",
    describe: "another address of Stripe's API, for tests",
    fallback: null,
    parse: parseOrigin,
  }),
  snapshots: setting({
    flag: "snapshots",
    argument: "<url>",
    describe: "where sandboxes are checkpointed: file:<dir>, gs://bucket/prefix",
    fallback: "file:./data/snapshots",
    parse: parseSnapshots,
  }),
  sandboxLimit: setting({
    flag: "sandbox-limit",
    argument: "<number>",
    describe: "how many sandboxes this instance holds in memory at most; 0: it has none",
    fallback: "100",
    parse: (text) => parseWhole(text, 0, 100_000),
  }),
  sandboxPayments: setting({
    flag: "sandbox-payments",
    argument: "<number>",
    describe: "how many payments one sandbox holds at most",
    fallback: "5000",
    parse: (text) => parseWhole(text, 1, 1_000_000),
  }),
  sandboxIdle: setting({
    flag: "sandbox-idle",
    argument: "<seconds>",
    describe: "after how long without a request a sandbox is checkpointed and leaves memory",
    fallback: "900",
    parse: (text) => parseWhole(text, 1, 86_400),
  }),
  host: setting({
    flag: "host",
    argument: "<address>",
    describe: "where to listen",
    fallback: "127.0.0.1",
    parse: parseHost,
  }),
  port: setting({
    flag: "port",
    argument: "<number>",
    describe: "where to listen; 0 picks a free one",
    fallback: "8080",
    parse: (text) => parseWhole(text, 0, 65_535),
  }),
  advertise: setting({
    flag: "advertise",
    argument: "<url>",
    describe: "where other instances and their clients reach this one; default: where it listens",
    fallback: null,
    parse: parseHttpUrl,
  }),
  shutdownDelay: setting({
    flag: "shutdown-delay",
    argument: "<seconds>",
    describe: "how long a stopping server still takes connections, so that balancers can look away",
    fallback: "2",
    parse: (text) => parseWhole(text, 0, 300),
  }),
  passInterval: setting({
    flag: "pass-interval",
    argument: "<seconds>",
    describe: "how often serve looks for operations to reconcile and authorizations to expire; 0: never",
    fallback: "1",
    parse: (text) => parseWhole(text, 0, 3_600),
  }),
  logLevel: setting({
    flag: "log-level",
    argument: "<level>",
    describe: "fatal, error, warn, info, debug, trace or silent; run logs only if it is told a level",
    fallback: "info",
    parse: parseLogLevel,
  }),
  metricsFile: setting({
    flag: "metrics-file",
    argument: "<file>",
    describe: "where run leaves the metrics of its lock at its end, for node exporter's textfile collector",
    fallback: null,
    parse: parseMetricsFile,
  }),
  url: setting({
    flag: "url",
    argument: "<url>",
    describe: "the server that client commands talk to",
    fallback: "http://127.0.0.1:8080",
    parse: parseHttpUrl,
  }),
  apiKey: setting({
    flag: "api-key",
    argument: "<secret>",
    describe: "the key that client commands show; better set in the environment, where ps does not see it",
    fallback: null,
    secret: true,
    parse: parseSecret,
  }),
  stripeApiKey: setting({
    flag: "stripe-api-key",
    environment: "STRIPE_API_KEY",
    argument: "<secret>",
    describe: "Stripe's secret key; better set in the environment, where ps does not see it",
    fallback: null,
    secret: true,
    parse: parseSecret,
  }),
} as const;

export type SettingName = keyof typeof settings;
export type SettingValue<N extends SettingName> = ReturnType<(typeof settings)[N]["parse"]>;

function setting<T, Fallback extends string | null>(
  own: Omit<Setting<T, Fallback>, "environment"> & { readonly environment?: string },
): Setting<T, Fallback> {
  return { environment: `HOLDFAST_${own.flag.toUpperCase().replaceAll("-", "_")}`, ...own };
}

function parseBoolean(text: string): boolean {
  if (text === "true" || text === "1") return true;
  if (text === "false" || text === "0") return false;
  throw new SettingError("is true or false");
}

function parseWhole(text: string, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (!(value >= least && value <= most))
    throw new SettingError(`is a whole number from ${least} to ${most}`);
  return value;
}

function parseHttpUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new SettingError("is an http:// or https:// URL");
  return text.replace(/\/+$/, "");
}

function parseOrigin(text: string): string {
  const url = parseHttpUrl(text);
  const { origin, pathname, search, hash, username, password } = new URL(url);
  if (pathname !== "/" || search + hash + username + password !== "") {
    throw new SettingError("is http(s)://host or http(s)://host:port, with nothing after it");
  }
  return origin;
}

function parseHost(text: string): string {
  if (!/^[A-Za-z0-9.:_-]{1,255}$/.test(text)) throw new SettingError("is a host name or an address");
  return text;
}

function parseLogLevel(text: string): string {
  if (!/^(fatal|error|warn|info|debug|trace|silent)$/.test(text)) {
    throw new SettingError("is one of fatal, error, warn, info, debug, trace, silent");
  }
  return text;
}

function parseMetricsFile(text: string): string {
  if (!text.endsWith(".prom")) throw new SettingError("ends in .prom: node exporter reads no other files");
  return resolve(text);
}

function parseSecret(text: string): string {
  if (!/^[\x21-\x7e]{1,512}$/.test(text)) throw new SettingError("is 1 to 512 visible ASCII characters");
  return text;
}
