import type { Request, RequestHandler, Response } from "express";
import { RequestError } from "../problems/request-error";

/** Of all bodies but those of endpoints that say otherwise. */
const BODY_LIMIT_BYTES = 64 * 1024;

const utf8 = new TextDecoder();

/** The body as it came. Refused as soon as it is known to be larger, by what is declared or by what has come. */
export async function bodyBytes(request: Request, response: Response, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? "0") > limitBytes) throw tooLarge(limitBytes);
  const bytes = await readAtMost(request, limitBytes);
  if (bytes !== null) return bytes;
  // Nobody knows how much more comes, and none of it may pass for a request.
  response.setHeader("Connection", "close");
  throw tooLarge(limitBytes);
}

/**
 * Reads a JSON body of at most 64 KiB, or as much as is said. None at all counts as `{}`, so that what needs nothing can be
 * sent without. By hand and not body-parser, which answers that a body is too large when all of it has come, if it ever
 * does.
 */
export function jsonBody(limitBytes = BODY_LIMIT_BYTES): RequestHandler {
  return async (request, response, next) => {
    const { headers } = request;
    const isChunked = headers["transfer-encoding"] !== undefined;
    const declaredBytes = Number(headers["content-length"] ?? "0");
    if (!isChunked && declaredBytes === 0) {
      request.body = {};
      next();
      return;
    }
    assertPlainJson(request);
    // A parser of the application that this API is mounted in was first.
    if (request.readableEnded) {
      if (request.body === undefined) throw new Error("mount Holdfast before whatever reads bodies");
      next();
      return;
    }
    const bytes = await bodyBytes(request, response, limitBytes);
    request.body = bytes.length === 0 ? {} : parsed(bytes);
    next();
  };
}

function assertPlainJson(request: Request): void {
  if (!request.is("application/json")) {
    throw new RequestError("unsupported_media_type", "Send the body as application/json.");
  }
  const { "content-encoding": encoding = "identity", "content-type": type = "" } = request.headers;
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? "utf-8";
  // A compressed body can be far larger than what came over the wire.
  if (encoding.toLowerCase() !== "identity" || charset.toLowerCase() !== "utf-8") {
    throw new RequestError(
      "unsupported_media_type",
      "Send the body as uncompressed application/json in UTF-8.",
    );
  }
}

/** Null as soon as there is more than that. Ends with the connection, and with the server's time limit for a request. */
function readAtMost(request: Request, limitBytes: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const tooEarly = () =>
      reject(new RequestError("malformed_request", "The request ended before its body was complete."));
    const parts: Buffer[] = [];
    let bytes = 0;
    request.on("data", (part: Buffer) => {
      bytes += part.length;
      if (bytes <= limitBytes) parts.push(part);
      else resolve(null);
    });
    request.once("end", () => {
      // Each request closes in the end: without this, each would make an error with its stack that is never thrown.
      request.off("close", tooEarly);
      resolve(Buffer.concat(parts));
    });
    request.once("close", tooEarly);
    if (request.readableEnded) reject(new Error("mount Holdfast before whatever reads bodies"));
    if (request.destroyed) tooEarly();
  });
}

function parsed(bytes: Buffer): unknown {
  try {
    const text = utf8.decode(bytes);
    // A name can also be written in escapes. Most bodies have neither, and are read in a third of the time.
    const mayNameIt = text.includes("__proto__") || text.includes("\\u");
    return JSON.parse(text, mayNameIt ? refusingProto : undefined);
  } catch {
    throw new RequestError("malformed_json", "The body is not valid JSON.");
  }
}

/** JSON's `__proto__` is an ordinary member, but not to all code that handles it later. */
function refusingProto(key: string, value: unknown): unknown {
  if (key === "__proto__") throw new SyntaxError("__proto__ is not accepted as a name");
  return value;
}

function tooLarge(limitBytes: number): RequestError {
  return new RequestError("body_too_large", `The body may be at most ${limitBytes} bytes.`);
}
