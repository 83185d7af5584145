import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { SettingError } from "./setting-source";

/** What the addresses of stores, locks and snapshots have in common. Each throws `SettingError`. */

/** `sqlite:./data/x`, `sqlite:/var/x` and `sqlite:///var/x` alike; made absolute, so that a change of folder changes nothing. */
export function pathIn(address: string, scheme: "sqlite:" | "file:" | "module:"): string {
  const rest = address.slice(scheme.length);
  if (rest === "") throw new SettingError(`names no path: write ${scheme}<path>`);
  // Resolved like a path, it would be a folder of that name.
  if (/^file:\/\//i.test(rest)) throw new SettingError(`names a URL: write ${scheme}<path>, without file://`);
  if (!rest.startsWith("//")) return resolve(rest);
  try {
    return fileURLToPath(`file:${rest}`);
  } catch {
    throw new SettingError(`names a host: write ${scheme}<path> or ${scheme}///<absolute path>`);
  }
}

export function bucketIn(address: string): { readonly bucket: string; readonly prefix: string } {
  const match = /^gs:\/\/([a-z0-9][a-z0-9._-]{1,220}[a-z0-9])(?:\/(.*))?$/.exec(address);
  if (match?.[1] === undefined) throw new SettingError("is not gs://bucket or gs://bucket/prefix");
  return { bucket: match[1], prefix: match[2] ?? "" };
}

export function isPostgres(address: string): boolean {
  return /^postgres(ql)?:\/\//.test(address);
}

export function checkedUrl(address: string): string {
  if (!URL.canParse(address)) throw new SettingError("is not a URL");
  return address;
}

/** The same text without what must not be shown: the password of a URL. */
export function withoutPassword(text: string): string {
  return text.replace(/^([a-z+]+:\/\/[^/@]*?):[^/]*@/i, "$1:***@").replace(/([?&]password=)[^&]*/gi, "$1***");
}
