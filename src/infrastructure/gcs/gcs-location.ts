/** Where the lock objects are: `gs://bucket` or `gs://bucket/prefix`. */
export interface GcsLockLocation {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
}

// The rules that keep a typing error from looking like a bucket of somebody else's; the service checks the rest.
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/;
const PREFIX = /^[A-Za-z0-9._~@:=+,-]+(\/[A-Za-z0-9._~@:=+,-]+)*$/;
/** Leaves more than half of an object's name to the id. */
const MAX_PREFIX_LENGTH = 400;

/** Throws a `RangeError` that says what is wrong, in words for the person who set it. */
export function parseGcsLockLocation(url: string): GcsLockLocation {
  const found = /^gs:\/\/([^/]*)(?:\/(.*))?$/s.exec(url);
  if (found === null) throw new RangeError(`${url} is not of the form gs://bucket/prefix`);
  const bucket = found[1] ?? "";
  if (!BUCKET.test(bucket)) throw new RangeError(`"${bucket}" in ${url} is not the name of a bucket`);
  const path = (found[2] ?? "").replace(/\/$/, "");
  if (path === "") return { bucket, prefix: "" };
  if (!PREFIX.test(path) || path.length > MAX_PREFIX_LENGTH || path.startsWith(".well-known"))
    throw new RangeError(
      `"${path}" in ${url} is not usable as a prefix: letters, digits and ._~@:=+,- in parts divided by single slashes, at most ${MAX_PREFIX_LENGTH} characters`,
    );
  return { bucket, prefix: `${path}/` };
}
