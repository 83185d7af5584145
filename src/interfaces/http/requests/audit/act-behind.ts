import type { Request, Response } from "express";
import type { Act } from "../../../../application/audit/act";
import { RequestError } from "../../problems/request-error";
import { callerOf, contextOf } from "../request-context";
import { text } from "../wire-values";

/** Why something is done, for the audit. Percent-encoded UTF-8, because headers are ASCII. */
export const REASON_HEADER = "Holdfast-Reason";

const reason = text(2_000);

/** Who does what the request asks for, from where, and why. */
export function actBehind(request: Request, response: Response): Act {
  const { keyId } = callerOf(response);
  return {
    actor: keyId === null ? { type: "anyone" } : { type: "api_key", id: keyId },
    origin: {
      over: "http",
      address: request.socket.remoteAddress ?? null,
      requestId: contextOf(response).requestId,
    },
    reason: reasonOf(request),
  };
}

/** Also checked before anything is done: an act whose reason cannot be read is not begun. */
export function reasonOf(request: Request): string | null {
  const sent = request.headers[REASON_HEADER.toLowerCase()];
  if (typeof sent !== "string" || sent === "") return null;
  const read = reason.safeParse(decoded(sent));
  if (read.success) return read.data;
  const detail = "is not 1 to 2000 printable characters, percent-encoded where they are not ASCII";
  throw new RequestError("invalid_request", "The request is not valid.", {
    errors: [{ parameter: REASON_HEADER, detail }],
  });
}

function decoded(sent: string): string | null {
  try {
    return decodeURIComponent(sent);
  } catch {
    return null;
  }
}
