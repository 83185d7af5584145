import express, { type RequestHandler } from "express";
import { RequestError } from "./request-error";

export const BODY_LIMIT_BYTES = 64 * 1024;

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
  const isEmpty =
    headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? "0") === 0;
  if (isEmpty) {
    request.body = {};
    next();
    return;
  }
  if (!request.is("application/json")) {
    throw new RequestError("unsupported_media_type", "Send the body as application/json.");
  }
  void parse(request, response, (error?: unknown) => {
    if (error === undefined) next();
    else next(bodyError(error));
  });
};

/** What body-parser says, in our words. */
function bodyError(error: unknown): unknown {
  const { type, status } = error as { type?: unknown; status?: unknown };
  switch (type) {
    case "entity.too.large":
      return new RequestError("body_too_large", `A body is at most ${BODY_LIMIT_BYTES} bytes.`);
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
