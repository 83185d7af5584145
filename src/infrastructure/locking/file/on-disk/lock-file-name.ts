import { createHash } from "node:crypto";

/**
 * Longest encoded id kept readable, in characters. With the longest suffix (three breakers and one written aside) a
 * name stays below 143 bytes, the smallest limit among common filesystems (eCryptfs).
 */
const LONGEST_READABLE = 80;
const KEPT_OF_A_LONG_ID = 14;

/**
 * A file name for any id: different ids get different names, also where the filesystem ignores case or normalizes
 * unicode, and no name can leave its directory. `task:nightly` becomes `task.nightly`; lower-case letters, digits, `-`
 * and `_` stay; everything else is escaped by UTF-16 code unit. A long id ends in its SHA-256 after `%%`, which no
 * escape produces; the file itself holds the id in full.
 */
export function encodeLockName(resourceId: string): string {
  let encoded = "";
  // By code unit, not by code point: ids may contain half a surrogate pair, and each half is a different id.
  for (let at = 0; at < resourceId.length; at++) encoded += encodeUnit(resourceId.charCodeAt(at));
  if (encoded.length <= LONGEST_READABLE) return encoded;
  const digest = createHash("sha256").update(encoded).digest("hex");
  return `${encoded.slice(0, KEPT_OF_A_LONG_ID)}%%${digest}`;
}

/** The id behind a name, or null if the name is a digest or none of ours. */
export function decodeLockName(name: string): string | null {
  const decoded = name.replace(
    /%u([0-9a-f]{4})|%([0-9a-f]{2})|\./g,
    (match, wide?: string, narrow?: string) =>
      match === "." ? ":" : String.fromCharCode(parseInt(wide ?? narrow ?? "", 16)),
  );
  return encodeLockName(decoded) === name ? decoded : null;
}

function encodeUnit(unit: number): string {
  const character = String.fromCharCode(unit);
  if (/[a-z0-9_-]/.test(character)) return character;
  if (character === ":") return ".";
  return unit < 0x80 ? `%${unit.toString(16).padStart(2, "0")}` : `%u${unit.toString(16).padStart(4, "0")}`;
}

/** The files that belong to one lock. The last suffix decides what a file is, so no id can name another's file. */
export function lockFileName(resourceId: string): string {
  return `${encodeLockName(resourceId)}.lock`;
}

export function permitsFileName(resourceId: string): string {
  return `${encodeLockName(resourceId)}.permits`;
}

export function fenceFileName(resourceId: string): string {
  return `${encodeLockName(resourceId)}.fence`;
}
