import { createHash } from "node:crypto";

/**
 * Of the last part of a name, in bytes of UTF-8; every name made here is ASCII. Whole names may have 1,024, but in a bucket
 * with a hierarchical namespace each of folder and last part may have half of that.
 */
const MAX_LAST_PART_LENGTH = 512;
const SUFFIX = ".json";

/**
 * The object that holds the lock of an id. Different ids have different names, whatever is in them: characters that mean
 * something in a URL, in a listing or to a shell are escaped, so `../../` leads nowhere. An ordinary id stays readable:
 * `payment:018f…` is `payment:018f….json`.
 */
export function gcsObjectName(prefix: string, resourceId: string): string {
  const lastPart = `${escapeId(resourceId)}${SUFFIX}`;
  if (lastPart.length <= MAX_LAST_PART_LENGTH) return `${prefix}${lastPart}`;
  // "%l" never comes out of the escaping below, so no short id can have the name of a long one.
  const digest = createHash("sha256").update(escapeId(resourceId)).digest("hex");
  return `${prefix}%long-${digest}${SUFFIX}`;
}

/** The id of a lock object, or null where the name does not tell: a long id, or no lock of ours. */
export function resourceIdOfGcsObject(prefix: string, name: string): string | null {
  if (!name.startsWith(prefix) || !name.endsWith(SUFFIX)) return null;
  const escaped = name.slice(prefix.length, -SUFFIX.length);
  const id = unescapeId(escaped);
  return id !== null && gcsObjectName(prefix, id) === name ? id : null;
}

/** Percent-encoding of the UTF-8 bytes; half of a surrogate pair has none, and becomes `%u` and its code unit. */
function escapeId(id: string): string {
  let escaped = "";
  for (const character of id) {
    if (/[A-Za-z0-9._~@:=+,-]/.test(character)) escaped += character;
    else if (/^[\ud800-\udfff]$/.test(character)) escaped += `%u${hex(character.charCodeAt(0))}`;
    else for (const byte of Buffer.from(character)) escaped += `%${hex(byte)}`;
  }
  return escaped;
}

function unescapeId(escaped: string): string | null {
  const parts = escaped.split(/(%u[0-9A-F]{4})/);
  try {
    return parts
      .map((part, index) =>
        index % 2 === 1 ? String.fromCharCode(parseInt(part.slice(2), 16)) : decodeURIComponent(part),
      )
      .join("");
  } catch {
    return null;
  }
}

const hex = (value: number) => value.toString(16).toUpperCase().padStart(2, "0");
