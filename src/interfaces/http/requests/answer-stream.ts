import { once } from "node:events";
import type { Response } from "express";

/** A reader that does not take a chunk for so long is gone, or does not read. Its connection is closed. */
const UNREAD_MS = 30_000;

/**
 * Sends chunks as they come. The next one is asked for when the one before has left this process, so that a reader that
 * does not read costs no more than one chunk. Rejects as the chunks do; half an answer must not end as if it were whole.
 */
export async function answerStream(
  response: Response,
  contentType: string,
  chunks: AsyncIterable<string>,
  unreadMs = UNREAD_MS,
): Promise<void> {
  response.statusCode = 200;
  response.setHeader("Content-Type", contentType);
  // Of proxies that would collect an answer before they pass it on.
  response.setHeader("X-Accel-Buffering", "no");
  response.flushHeaders();
  // For the headers alone there is nothing to send, and so no end to wait for.
  if (response.req.method !== "HEAD") {
    for await (const chunk of chunks) {
      if (response.destroyed) return;
      if (!response.write(chunk)) await taken(response, unreadMs);
    }
  }
  response.end();
}

async function taken(response: Response, unreadMs: number): Promise<void> {
  const over = new AbortController();
  const timer = setTimeout(() => response.destroy(), unreadMs);
  try {
    await Promise.race([
      once(response, "drain", { signal: over.signal }),
      once(response, "close", { signal: over.signal }),
    ]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
