import type { Request, RequestHandler, Response } from "express";
import { RequestError } from "../problems/request-error";

export const BODY_LIMIT_BYTES = 64 * 1024;

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
 * Reads a JSON body of at most 64 KiB. None at all counts as `{}`, so that what needs nothing can be sent without. By
 * hand and not body-parser, which answers that a body is too large when all of it has come, if it ever does.
 */
export const jsonBody: RequestHandler = async (request, response, next) => {
  const { headers } = request;
  const isChunked = headers["transfer-encoding"] !== undefined;
  const declaredBytes = Number(headers["content-length"] ?? "0");
  if (!isChunked && declaredBytes === 0) {
    request.body = {};
    next();
    return;
  }
  assertPlainJson(request);
  const bytes = await bodyBytes(request, response, BODY_LIMIT_BYTES);
  request.body = bytes.length === 0 ? {} : parsed(bytes);
  next();
};

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
    request.once("end", () => resolve(Buffer.concat(parts)));
    request.once("close", tooEarly);
    if (request.destroyed) tooEarly();
  });
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes), (key, value: unknown) => {
      // JSON's `__proto__` is an ordinary member, but not to all code that handles it later.
      if (key === "__proto__") throw new SyntaxError("__proto__ is not accepted as a name");
      return value;
    });
  } catch {
    throw new RequestError("malformed_json", "The body is not valid JSON.");
  }
}

function tooLarge(limitBytes: number): RequestError {
  return new RequestError("body_too_large", `The body may be at most ${limitBytes} bytes.`);
}
