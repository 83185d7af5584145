import { once } from "node:events";
import express, { type Request, type RequestHandler, type Response } from "express";
import { RequestError } from "./request-error";

export const BODY_LIMIT_BYTES = 64 * 1024;
/** For how long the rest of a body is read before a connection is closed on it. */
const LINGER_MS = 1_000;

const parse = express.json({
  limit: BODY_LIMIT_BYTES,
  // A compressed body can be far larger than what came over the wire.
  inflate: false,
  // A bare number is JSON, too; it is the schema that refuses it.
  strict: false,
  // JSON's `__proto__` is an ordinary member, but not to all code that handles it later.
  reviver: (key: string, value: unknown) => {
    if (key === "__proto__") throw new SyntaxError("__proto__ is not accepted as a name");
    return value;
  },
});

/** Reads a JSON body of at most 64 KiB. None at all counts as `{}`, so that what needs nothing can be sent without. */
export const jsonBody: RequestHandler = (request, response, next) => {
  const { headers } = request;
  const declaredBytes = Number(headers["content-length"] ?? "0");
  const isEmpty = headers["transfer-encoding"] === undefined && declaredBytes === 0;
  if (isEmpty) {
    request.body = {};
    next();
    return;
  }
  if (!request.is("application/json")) {
    throw new RequestError("unsupported_media_type", "Send the body as application/json.");
  }
  // body-parser would read all of it first, and wait for what may never come.
  if (declaredBytes > BODY_LIMIT_BYTES) {
    refuseUnread(request, response).catch(next);
    return;
  }
  void parse(request, response, (error?: unknown) => {
    if (error === undefined) next();
    else next(bodyError(error));
  });
};

/** At once; but where the connection ends with the answer, what came and was not read would take the answer with it. */
async function refuseUnread(request: Request, response: Response): Promise<void> {
  const stays = response.shouldKeepAlive && response.getHeader("Connection") !== "close";
  if (!stays) {
    request.resume();
    await once(request, "end", { signal: AbortSignal.timeout(LINGER_MS) }).catch(() => {});
  }
  throw tooLarge();
}

function tooLarge(): RequestError {
  return new RequestError("body_too_large", `A body is at most ${BODY_LIMIT_BYTES} bytes.`);
}

/** What body-parser says, in our words. */
function bodyError(error: unknown): unknown {
  const { type, status } = error as { type?: unknown; status?: unknown };
  switch (type) {
    case "entity.too.large":
      return tooLarge();
    case "entity.parse.failed":
      return new RequestError("malformed_json", "The body is not JSON.");
    case "encoding.unsupported":
    case "charset.unsupported":
      return new RequestError(
        "unsupported_media_type",
        "Send the body as uncompressed application/json in UTF-8.",
      );
    default:
      // Any other 4xx that it found, such as a length that does not match.
      return typeof status === "number" && status >= 400 && status < 500
        ? new RequestError("malformed_request", "The request is malformed.")
        : error;
  }
}
