import type { Request } from "express";
import { parseIdempotencyKey, type IdempotencyKey } from "../../../domain/identifiers";
import { InvalidValueError } from "../../../domain/payment/errors";
import { RequestError } from "../problems/request-error";

/** RFC 8941: visible characters and spaces, of which quote and backslash stand behind a backslash. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/**
 * `k` and `"k"` are the same key. A header that was sent twice arrives as one with a comma and a space in it, and is
 * refused for the space.
 */
export function idempotencyKeyOf(request: Request): IdempotencyKey {
  const header = request.headers["idempotency-key"];
  if (header === undefined) {
    throw new RequestError(
      "idempotency_key_required",
      "Send an Idempotency-Key header: a new key for each operation, and the same key whenever you repeat it.",
    );
  }
  if (typeof header !== "string") throw notAKey();
  if (!header.startsWith('"')) return parseIdempotencyKey(header);
  const quoted = QUOTED.exec(header)?.[1];
  if (quoted === undefined) throw notAKey();
  return parseIdempotencyKey(quoted.replace(/\\(.)/g, "$1"));
}

function notAKey(): InvalidValueError {
  return new InvalidValueError(
    "invalid_idempotency_key",
    "the Idempotency-Key header must be sent exactly once, bare or as a quoted string",
  );
}
