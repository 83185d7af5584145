import { GoogleError, invalid } from "./google-error";
import { listObjects } from "./list-objects";
import { parseMultipart, resourceFields } from "./multipart";
import { preconditionsOf } from "./preconditions";
import { ResumableUploads } from "./resumable-uploads";
import type { Route } from "./route";
import type { StorageState } from "./storage-state";
import { crc32cBase64 } from "./crc32c";
import { md5Base64, mediaHeadersOf, resourceOf, type StoredObject } from "./stored-object";

export interface ApiRequest extends Route {
  /** `http://127.0.0.1:4443`, for the links in the answers. */
  readonly origin: string;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body: Buffer;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The part of Cloud Storage's JSON API that a lock or a snapshot store can meet. Synchronous: each call is one instant. */
export class JsonApi {
  private readonly uploads = new ResumableUploads();

  constructor(private readonly state: StorageState) {}

  handle(request: ApiRequest): ApiAnswer {
    try {
      return this.dispatch(request);
    } catch (error) {
      if (!(error instanceof GoogleError)) throw error;
      return answerOf(error, request.operation === "object.media");
    }
  }

  private dispatch(request: ApiRequest): ApiAnswer {
    const { operation, query, origin } = request;
    const bucket = request.bucket ?? "";
    const object = request.object ?? "";
    const generation = query.get("generation") ?? undefined;
    const conditions = preconditionsOf(query);
    const { state } = this;

    switch (operation) {
      case "bucket.insert": {
        const { name } = resourceFields(request.body.toString("utf8"));
        if (name === undefined) throw invalid("Required parameter: name");
        state.createBucket(name);
        return json(200, bucketResource(name, origin));
      }
      case "bucket.get":
        state.objectsOf(bucket);
        return json(200, bucketResource(bucket, origin));
      case "bucket.delete":
        state.deleteBucket(bucket);
        return { status: 204, headers: {}, body: Buffer.alloc(0) };
      case "object.get":
        return resource(state.get(bucket, object, conditions, generation), origin);
      case "object.media": {
        const found = state.get(bucket, object, conditions, generation);
        return mediaAnswer(found, request.headers["range"]);
      }
      case "object.list":
        return json(200, listObjects([...state.objectsOf(bucket).values()], query, origin));
      case "object.patch": {
        const { metadata } = resourceFields(request.body.toString("utf8"));
        return resource(state.patch(bucket, object, metadata ?? {}, conditions), origin);
      }
      case "object.delete":
        state.delete(bucket, object, conditions, generation);
        return { status: 204, headers: {}, body: Buffer.alloc(0) };
      case "object.insert":
        return this.insert(request, bucket);
      case "upload.start":
        return this.startUpload(request, bucket);
      case "upload.continue":
        return this.continueUpload(request);
      case "unknown":
        throw new GoogleError(404, "notFound", "Not Found");
    }
  }

  private insert(request: ApiRequest, bucket: string): ApiAnswer {
    this.state.objectsOf(bucket);
    const type = String(request.headers["content-type"] ?? "application/octet-stream");
    const conditions = preconditionsOf(request.query);
    if (request.query.get("uploadType") === "media") {
      const name = nameOf(request.object);
      return resource(
        this.state.insert(bucket, name, request.body, { contentType: type }, conditions),
        request.origin,
      );
    }
    const { resource: fields, content, contentType } = parseMultipart(type, request.body);
    checkHashes(fields, content);
    const facts = { ...fields, ...(contentType === undefined ? {} : { contentType }) };
    const name = nameOf(request.object ?? fields.name);
    return resource(this.state.insert(bucket, name, content, facts, conditions), request.origin);
  }

  private startUpload(request: ApiRequest, bucket: string): ApiAnswer {
    this.state.objectsOf(bucket);
    const fields = resourceFields(request.body.toString("utf8"));
    const contentType = request.headers["x-upload-content-type"];
    const id = this.uploads.start({
      bucket,
      name: nameOf(request.object ?? fields.name),
      facts: { ...fields, ...(typeof contentType === "string" ? { contentType } : {}) },
      conditions: preconditionsOf(request.query),
    });
    const location = `${request.origin}/upload/storage/v1/b/${encodeURIComponent(bucket)}/o?uploadType=resumable&upload_id=${id}`;
    return { status: 200, headers: { location, "x-guploader-uploadid": id }, body: Buffer.alloc(0) };
  }

  private continueUpload(request: ApiRequest): ApiAnswer {
    const id = request.query.get("upload_id") ?? "";
    if (request.headers["content-range"] === undefined && request.body.length === 0) {
      this.uploads.cancel(id);
      return { status: 499, headers: {}, body: Buffer.alloc(0) };
    }
    const range = request.headers["content-range"];
    const fed = this.uploads.feed(id, typeof range === "string" ? range : undefined, request.body);
    if ("received" in fed) {
      const headers: Record<string, string> =
        fed.received === 0 ? {} : { range: `bytes=0-${fed.received - 1}` };
      return { status: 308, headers, body: Buffer.alloc(0) };
    }
    const { bucket, name, received, facts, conditions } = fed.finished;
    return resource(this.state.insert(bucket, name, received, facts, conditions), request.origin);
  }
}

function nameOf(name: string | undefined): string {
  if (name === undefined) throw invalid("Required parameter: name");
  return name;
}

function checkHashes(fields: { readonly md5Hash?: string; readonly crc32c?: string }, content: Buffer): void {
  if (fields.md5Hash !== undefined && fields.md5Hash !== md5Base64(content))
    throw invalid(`Provided MD5 hash "${fields.md5Hash}" doesn't match calculated MD5 hash.`);
  if (fields.crc32c !== undefined && fields.crc32c !== crc32cBase64(content))
    throw invalid(`Provided CRC32C "${fields.crc32c}" doesn't match calculated CRC32C.`);
}

/** A media request is refused in plain text, anything else in JSON, and 304 in silence. */
export function answerOf(error: GoogleError, media: boolean): ApiAnswer {
  if (error.status === 304) return { status: 304, headers: {}, body: Buffer.alloc(0) };
  return media
    ? {
        status: error.status,
        headers: { "content-type": "text/html; charset=UTF-8" },
        body: Buffer.from(error.message),
      }
    : { status: error.status, headers: JSON_TYPE, body: Buffer.from(error.toJson()) };
}

/** All of the content, or the one range that was asked for. */
function mediaAnswer(object: StoredObject, range: string | string[] | undefined): ApiAnswer {
  const found = typeof range === "string" ? /^bytes=(\d+)-(\d*)$/.exec(range) : null;
  const headers = mediaHeadersOf(object);
  if (found === null) return { status: 200, headers, body: object.content };
  const from = Number(found[1]);
  const size = object.content.length;
  if (from >= size)
    throw new GoogleError(416, "requestedRangeNotSatisfiable", "Request range not satisfiable");
  const to = found[2] === "" ? size - 1 : Math.min(Number(found[2]), size - 1);
  return {
    status: 206,
    headers: { ...headers, "content-range": `bytes ${from}-${to}/${size}` },
    body: object.content.subarray(from, to + 1),
  };
}

const JSON_TYPE = { "content-type": "application/json; charset=UTF-8" };

const json = (status: number, body: unknown): ApiAnswer => ({
  status,
  headers: JSON_TYPE,
  body: Buffer.from(JSON.stringify(body)),
});

const resource = (object: StoredObject, origin: string) => json(200, resourceOf(object, origin));

function bucketResource(name: string, origin: string): Record<string, unknown> {
  return {
    kind: "storage#bucket",
    id: name,
    name,
    selfLink: `${origin}/storage/v1/b/${encodeURIComponent(name)}`,
    projectNumber: "1",
    metageneration: "1",
    location: "US",
    locationType: "multi-region",
    storageClass: "STANDARD",
    etag: "CAE=",
    timeCreated: "2026-01-01T00:00:00.000Z",
    updated: "2026-01-01T00:00:00.000Z",
  };
}
