import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { redisLocation } from "../locking/lease/redis-location";
import { SettingError } from "./setting-source";

/** One URL picks an adapter. What it says is checked here; whether something answers there shows at start. */
export type StoreSetting =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: string }
  | { readonly kind: "memory" };

export type LocksSetting =
  | { readonly kind: "memory" }
  | { readonly kind: "none" }
  | { readonly kind: "file"; readonly directory: string; readonly mode?: "kernel" | "exclusive-create" }
  /** The database that is the store, too. */
  | { readonly kind: "store" }
  | { readonly kind: "postgres"; readonly url: string }
  | { readonly kind: "redis"; readonly url: string }
  | { readonly kind: "gcs"; readonly bucket: string; readonly prefix: string };

/** With nothing left to look up: where `postgres:` leads is known. */
export type LocksBackendSetting = Exclude<LocksSetting, { readonly kind: "store" }>;

export type GatewaySetting = "simulated" | "stripe";

export type SnapshotsSetting =
  | { readonly kind: "directory"; readonly directory: string }
  | { readonly kind: "gcs"; readonly bucket: string; readonly prefix: string };

export function parseStore(text: string): StoreSetting {
  if (text === "memory:") return { kind: "memory" };
  if (/^postgres(ql)?:\/\//.test(text)) return { kind: "postgres", url: checkedUrl(text) };
  if (text.startsWith("sqlite:")) return { kind: "sqlite", file: pathOf(text, "sqlite:") };
  throw new SettingError("is one of sqlite:<file>, postgres://…, memory:");
}

export function parseLocks(text: string): LocksSetting {
  if (text === "memory:") return { kind: "memory" };
  if (text === "none:") return { kind: "none" };
  if (text === "postgres:") return { kind: "store" };
  if (/^postgres(ql)?:\/\//.test(text)) return { kind: "postgres", url: checkedUrl(text) };
  if (/^rediss?:\/\//.test(text)) return { kind: "redis", url: checkedUrl(text) };
  if (/^rediss?\+(cluster|sentinel):\/\//.test(text)) return { kind: "redis", url: checkedRedis(text) };
  if (text.startsWith("gs://")) return { kind: "gcs", ...parseBucket(text) };
  if (text.startsWith("file:")) return parseFileLocks(text);
  throw new SettingError(
    "is one of memory:, none:, file:<dir>, postgres:, postgres://…, redis://… (also redis+cluster://… and " +
      "redis+sentinel://…), gs://bucket/prefix",
  );
}

export function parseGateway(text: string): GatewaySetting {
  if (text === "simulated:") return "simulated";
  if (text === "stripe:") return "stripe";
  throw new SettingError("is one of simulated:, stripe:");
}

export function parseSnapshots(text: string): SnapshotsSetting {
  if (text.startsWith("gs://")) return { kind: "gcs", ...parseBucket(text) };
  if (text.startsWith("file:")) return { kind: "directory", directory: pathOf(text, "file:") };
  throw new SettingError("is one of file:<dir>, gs://bucket/prefix");
}

/** The same text without what must not be shown: the password of a URL. */
export function withoutPassword(text: string): string {
  return text.replace(/^([a-z+]+:\/\/[^/@]*?):[^/]*@/i, "$1:***@").replace(/([?&]password=)[^&]*/gi, "$1***");
}

/** Names several servers, which no URL can. */
function checkedRedis(text: string): string {
  try {
    redisLocation(text);
  } catch (error) {
    throw new SettingError(`is no such address: ${(error as Error).message}`);
  }
  return text;
}

function parseFileLocks(text: string): LocksSetting {
  const [path = "", query = ""] = splitOnce(text, "?");
  const parameters = new URLSearchParams(query);
  const mode = parameters.get("mode");
  const unknown = [...parameters.keys()].find((name) => name !== "mode");
  if (unknown !== undefined)
    throw new SettingError(`has an unknown parameter "${unknown}": only mode is known`);
  if (mode !== null && mode !== "kernel" && mode !== "exclusive-create") {
    throw new SettingError("has an unknown mode: it is kernel or exclusive-create");
  }
  return { kind: "file", directory: pathOf(path, "file:"), ...(mode === null ? {} : { mode }) };
}

/** `sqlite:./data/x`, `sqlite:/var/x` and `sqlite:///var/x` alike; made absolute, so that a change of folder changes nothing. */
function pathOf(text: string, scheme: "sqlite:" | "file:"): string {
  const rest = text.slice(scheme.length);
  if (rest === "") throw new SettingError(`names no path: write ${scheme}<path>`);
  if (!rest.startsWith("//")) return resolve(rest);
  try {
    return fileURLToPath(`file:${rest}`);
  } catch {
    throw new SettingError(`names a host: write ${scheme}<path> or ${scheme}///<absolute path>`);
  }
}

function parseBucket(text: string): { bucket: string; prefix: string } {
  const match = /^gs:\/\/([a-z0-9][a-z0-9._-]{1,220}[a-z0-9])(?:\/(.*))?$/.exec(text);
  if (match?.[1] === undefined) throw new SettingError("is not gs://bucket or gs://bucket/prefix");
  return { bucket: match[1], prefix: match[2] ?? "" };
}

function checkedUrl(text: string): string {
  if (!URL.canParse(text)) throw new SettingError("is not a URL");
  return text;
}

function splitOnce(text: string, separator: string): readonly [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
