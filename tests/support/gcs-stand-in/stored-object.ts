import { createHash } from "node:crypto";
import { crc32cBase64 } from "./crc32c";

/** One generation of one object. A metadata change makes a new value with the next metageneration. */
export interface StoredObject {
  readonly bucket: string;
  readonly name: string;
  readonly content: Buffer;
  readonly generation: string;
  readonly metageneration: number;
  /** Milliseconds by the storage's clock. */
  readonly timeCreated: number;
  readonly updated: number;
  readonly contentType: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export const md5Base64 = (content: Buffer) => createHash("md5").update(content).digest("base64");

export const etagOf = (object: StoredObject) =>
  Buffer.from(`${object.generation}/${object.metageneration}`).toString("base64");

/** The JSON resource. 64-bit numbers are strings in it, times have milliseconds. */
export function resourceOf(object: StoredObject, origin: string): Record<string, unknown> {
  const path = `b/${encodeURIComponent(object.bucket)}/o/${encodeURIComponent(object.name)}`;
  return {
    kind: "storage#object",
    id: `${object.bucket}/${object.name}/${object.generation}`,
    selfLink: `${origin}/storage/v1/${path}`,
    mediaLink: `${origin}/download/storage/v1/${path}?generation=${object.generation}&alt=media`,
    name: object.name,
    bucket: object.bucket,
    generation: object.generation,
    metageneration: String(object.metageneration),
    contentType: object.contentType,
    storageClass: "STANDARD",
    size: String(object.content.length),
    md5Hash: md5Base64(object.content),
    crc32c: crc32cBase64(object.content),
    etag: etagOf(object),
    timeCreated: new Date(object.timeCreated).toISOString(),
    updated: new Date(object.updated).toISOString(),
    timeStorageClassUpdated: new Date(object.timeCreated).toISOString(),
    ...(object.metadata === undefined ? {} : { metadata: object.metadata }),
  };
}

/** The headers of a media download: everything a reader needs to know which generation the bytes are from. */
export function mediaHeadersOf(object: StoredObject): Record<string, string> {
  return {
    "content-type": object.contentType,
    "content-disposition": "attachment",
    "cache-control": "no-cache, no-store, max-age=0, must-revalidate",
    "last-modified": new Date(object.updated).toUTCString(),
    etag: etagOf(object),
    "x-goog-generation": object.generation,
    "x-goog-metageneration": String(object.metageneration),
    "x-goog-storage-class": "STANDARD",
    "x-goog-stored-content-encoding": "identity",
    "x-goog-stored-content-length": String(object.content.length),
    "x-goog-hash": `crc32c=${crc32cBase64(object.content)},md5=${md5Base64(object.content)}`,
  };
}
