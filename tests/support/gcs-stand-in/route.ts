import type { Operation } from "./fault-plan";

export interface Route {
  readonly operation: Operation | "unknown";
  readonly query: URLSearchParams;
  readonly bucket?: string;
  readonly object?: string;
}

/** Which method of the API a request means. The path is cut before it is decoded: an object name may hold `%2F`. */
export function routeOf(method: string, target: string): Route {
  const [rawPath = "", rawQuery = ""] = splitOnce(target, "?");
  const query = new URLSearchParams(rawQuery);
  const path = rawPath.replace(/^\/(upload|download)(?=\/)/, "");
  const upload = rawPath.startsWith("/upload/");
  const found = /^\/storage\/v1\/b(?:\/([^/]+))?(?:\/(o)(?:\/([^/]+))?)?$/.exec(path);
  if (found === null) return { operation: "unknown", query };

  const bucket = found[1] === undefined ? undefined : decodeURIComponent(found[1]);
  const inPath = found[3] === undefined ? undefined : decodeURIComponent(found[3]);
  const object = upload ? (query.get("name") ?? undefined) : inPath;
  return {
    operation: operationOf(method, {
      bucket,
      objects: found[2] !== undefined,
      object: inPath,
      upload,
      query,
    }),
    query,
    ...(bucket === undefined ? {} : { bucket }),
    ...(object === undefined ? {} : { object }),
  };
}

function operationOf(
  method: string,
  at: {
    bucket: string | undefined;
    objects: boolean;
    object: string | undefined;
    upload: boolean;
    query: URLSearchParams;
  },
): Operation | "unknown" {
  if (at.bucket === undefined) return method === "POST" ? "bucket.insert" : "unknown";
  if (!at.objects) return method === "GET" ? "bucket.get" : method === "DELETE" ? "bucket.delete" : "unknown";
  if (at.upload) {
    if (at.query.has("upload_id"))
      return method === "PUT" || method === "DELETE" ? "upload.continue" : "unknown";
    if (method !== "POST") return "unknown";
    return at.query.get("uploadType") === "resumable" ? "upload.start" : "object.insert";
  }
  if (at.object === undefined) return method === "GET" ? "object.list" : "unknown";
  if (method === "GET") return at.query.get("alt") === "media" ? "object.media" : "object.get";
  if (method === "DELETE") return "object.delete";
  return method === "PATCH" ? "object.patch" : "unknown";
}

function splitOnce(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
