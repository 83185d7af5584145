import { resolve } from "node:path";
import { gatewayForms, parseGateway, parseLocks, parseSnapshots, parseStore } from "./adapter-urls";
import { lockForms } from "./lock-catalogue";
import { SecretsKeyError } from "../../application/ports/events/secret-box";
import { parseSecretsKeys, type SecretsKeys } from "../secrets/secrets-keys";
import type { WebhookAllowances } from "../webhooks/address-rules";
import { SettingError } from "./setting-source";
import { parseWebhookSecrets } from "./webhook-secrets";

/** One setting: its names in each source, and how its text is read. The flag's name is also the key in the file. */
export interface Setting<T, Fallback extends string | null = string | null> {
  readonly flag: string;
  readonly environment: string;
  /** For `--help`. */
  readonly argument: string;
  readonly describe: string;
  /** As text, so that it is read in the same way as a value that was written; null when it follows from something else. */
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
    describe: "where payments are stored: sqlite:<file>, postgres://…, memory:",
    fallback: "sqlite:./data/holdfast.db",
    parse: parseStore,
  }),
  acceptLostLog: setting({
    flag: "accept-lost-log",
    argument: "",
    describe: "start once with a SQLite file whose log was lost or damaged in an unclean stop",
    fallback: "false",
    parse: parseBoolean,
  }),
  storeConnections: setting({
    flag: "store-connections",
    argument: "<number>",
    describe: "maximum number of connections of this process to a PostgreSQL store; its locks use one more",
    fallback: "10",
    parse: (text) => parseWhole(text, 1, 1_000),
  }),
  locks: setting({
    flag: "locks",
    argument: "<url>",
    describe: `where locks are kept: ${lockForms()}`,
    fallback: null,
    parse: parseLocks,
  }),
  allowUnlocked: setting({
    flag: "allow-unlocked",
    argument: "",
    describe: "allow --locks none:, which gives no mutual exclusion",
    fallback: "false",
    parse: parseBoolean,
  }),
  gateway: setting({
    flag: "gateway",
    argument: "<url>",
    describe: `the payment gateway: ${gatewayForms}`,
    fallback: "simulated:",
    parse: parseGateway,
  }),
  stripeUrl: setting({
    flag: "stripe-url",
    argument: "<url>",
    describe: "base URL of Stripe's API, for tests",
    fallback: null,
    parse: parseOrigin,
  }),
  gatewayCatchUp: setting({
    flag: "gateway-catch-up",
    argument: "<seconds>",
    describe:
      "time between readings of the gateway's own list of events, for those that no webhook has brought; 0 disables them",
    fallback: "300",
    parse: (text) => parseWhole(text, 0, 86_400),
  }),
  snapshots: setting({
    flag: "snapshots",
    argument: "<url>",
    describe: "where sandbox snapshots are stored: file:<dir>, gs://bucket/prefix",
    fallback: "file:./data/snapshots",
    parse: parseSnapshots,
  }),
  sandboxLimit: setting({
    flag: "sandbox-limit",
    argument: "<number>",
    describe: "maximum number of sandboxes in the memory of this instance; 0 disables sandboxes",
    fallback: "100",
    parse: (text) => parseWhole(text, 0, 100_000),
  }),
  sandboxPayments: setting({
    flag: "sandbox-payments",
    argument: "<number>",
    describe: "maximum number of payments in one sandbox",
    fallback: "5000",
    parse: (text) => parseWhole(text, 1, 1_000_000),
  }),
  sandboxIdle: setting({
    flag: "sandbox-idle",
    argument: "<seconds>",
    describe: "time without a request after which a sandbox is checkpointed and removed from memory",
    fallback: "900",
    parse: (text) => parseWhole(text, 1, 86_400),
  }),
  webhooksAllow: setting({
    flag: "webhooks-allow",
    argument: "<kinds>",
    describe:
      "where webhooks may go beside https:// on the public Internet: none, http (without TLS), private (addresses of this " +
      "host and of private networks), or both with a comma",
    fallback: "none",
    parse: parseAllowances,
  }),
  host: setting({
    flag: "host",
    argument: "<address>",
    describe: "address to listen on",
    fallback: "127.0.0.1",
    parse: parseHost,
  }),
  port: setting({
    flag: "port",
    argument: "<number>",
    describe: "port to listen on; 0 picks a free one",
    fallback: "8080",
    parse: (text) => parseWhole(text, 0, 65_535),
  }),
  advertise: setting({
    flag: "advertise",
    argument: "<url>",
    describe: "URL at which clients and other instances reach this one; default: where it listens",
    fallback: null,
    parse: parseHttpUrl,
  }),
  shutdownDelay: setting({
    flag: "shutdown-delay",
    argument: "<seconds>",
    describe: "how long a stopping server keeps accepting connections while load balancers drain it",
    fallback: "2",
    parse: (text) => parseWhole(text, 0, 300),
  }),
  passInterval: setting({
    flag: "pass-interval",
    argument: "<seconds>",
    describe:
      "time between passes of serve that reconcile operations and expire authorizations; 0 disables them",
    fallback: "1",
    parse: (text) => parseWhole(text, 0, 3_600),
  }),
  logLevel: setting({
    flag: "log-level",
    argument: "<level>",
    describe: "fatal, error, warn, info, debug, trace or silent; run logs only if a level is set",
    fallback: "info",
    parse: parseLogLevel,
  }),
  trace: setting({
    flag: "trace",
    environment: "OTEL_EXPORTER_OTLP_ENDPOINT",
    argument: "<url>",
    describe: "OpenTelemetry collector to which traces go, by OTLP over HTTP",
    fallback: null,
    parse: parseHttpUrl,
  }),
  metricsFile: setting({
    flag: "metrics-file",
    argument: "<file>",
    describe: "file to which run writes its lock metrics at its end, for node exporter's textfile collector",
    fallback: null,
    parse: parseMetricsFile,
  }),
  url: setting({
    flag: "url",
    argument: "<url>",
    describe: "server that client commands connect to",
    fallback: "http://127.0.0.1:8080",
    parse: parseHttpUrl,
  }),
  apiKey: setting({
    flag: "api-key",
    argument: "<secret>",
    describe: "API key sent by client commands; prefer the environment variable, which ps does not show",
    fallback: null,
    secret: true,
    parse: parseSecret,
  }),
  secretsKey: setting({
    flag: "secrets-key",
    argument: "<key>",
    describe:
      "32 bytes in base64 that seal what is secret in the store; several with commas: the first one seals, all open. Better " +
      "set in the environment, where ps does not see it. With SQLite, a file beside it has one by itself",
    fallback: null,
    secret: true,
    parse: parseKeys,
  }),
  stripeApiKey: setting({
    flag: "stripe-api-key",
    environment: "STRIPE_API_KEY",
    argument: "<secret>",
    describe: "Stripe secret key; prefer the environment variable, which ps does not show",
    fallback: null,
    secret: true,
    parse: parseSecret,
  }),
  stripeWebhookSecrets: setting({
    flag: "stripe-webhook-secrets",
    argument: "<secrets>",
    describe:
      "signing secrets (whsec_…) of the webhook endpoint at Stripe that leads here; several with commas while one replaces " +
      "the other. Better set in the environment, where ps does not see them",
    fallback: null,
    secret: true,
    parse: parseWebhookSecrets,
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
  throw new SettingError("must be true or false");
}

function parseWhole(text: string, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (!(value >= least && value <= most))
    throw new SettingError(`must be a whole number from ${least} to ${most}`);
  return value;
}

function parseHttpUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    throw new SettingError("must be an http:// or https:// URL");
  return text.replace(/\/+$/, "");
}

function parseOrigin(text: string): string {
  const url = parseHttpUrl(text);
  const { origin, pathname, search, hash, username, password } = new URL(url);
  if (pathname !== "/" || search + hash + username + password !== "") {
    throw new SettingError("must be http(s)://host or http(s)://host:port, with nothing after it");
  }
  return origin;
}

function parseHost(text: string): string {
  if (!/^[A-Za-z0-9.:_-]{1,255}$/.test(text)) throw new SettingError("must be a host name or an address");
  return text;
}

function parseLogLevel(text: string): string {
  if (!/^(fatal|error|warn|info|debug|trace|silent)$/.test(text)) {
    throw new SettingError("must be one of fatal, error, warn, info, debug, trace, silent");
  }
  return text;
}

function parseMetricsFile(text: string): string {
  if (!text.endsWith(".prom"))
    throw new SettingError("must end in .prom: node exporter reads no other files");
  return resolve(text);
}

function parseSecret(text: string): string {
  if (!/^[\x21-\x7e]{1,512}$/.test(text)) throw new SettingError("must be 1 to 512 visible ASCII characters");
  return text;
}

function parseAllowances(text: string): WebhookAllowances {
  const kinds = text.split(",").map((kind) => kind.trim());
  if (text !== "none" && !kinds.every((kind) => kind === "http" || kind === "private")) {
    throw new SettingError("is none, http, private, or http,private");
  }
  return { http: kinds.includes("http"), private: kinds.includes("private") };
}

function parseKeys(text: string): SecretsKeys {
  try {
    return parseSecretsKeys(text, "it");
  } catch (error) {
    if (!(error instanceof SecretsKeyError)) throw error;
    throw new SettingError(error.message.replace(/^it has to be/, "is"));
  }
}
