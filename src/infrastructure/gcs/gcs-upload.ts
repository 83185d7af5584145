import type { GcsRequest } from "./gcs-requests";
import { nonce } from "../locking/nonce";

/**
 * One object with its facts, in one request, and only if its generation is the one that is named (0: if there is none).
 * In a bucket that the public may read, the default is an hour in caches.
 */
export function uploadOf(
  bucket: string,
  name: string,
  content: string | Uint8Array,
  contentType: string,
  ifGeneration: string | number,
): GcsRequest {
  // Drawn, so that no content can hold it.
  const boundary = nonce(15);
  const facts = JSON.stringify({ contentType, cacheControl: "no-store" });
  return {
    method: "POST",
    path: `/upload/storage/v1/b/${encodeURIComponent(bucket)}/o`,
    query: { uploadType: "multipart", name, ifGenerationMatch: ifGeneration },
    headers: { "Content-Type": `multipart/related; boundary=${boundary}` },
    body: Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Type: application/json\r\n\r\n${facts}\r\n`),
      Buffer.from(`--${boundary}\r\nContent-Type: ${contentType}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from(`\r\n--${boundary}--`),
    ]),
  };
}
