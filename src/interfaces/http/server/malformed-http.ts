import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { problemDetails, problemJson, toldError } from "../problems/problem-details";
import { RequestError } from "../problems/request-error";
import { safeHeaders } from "./safe-headers";

/** For how long the sender of nonsense may leave the answer unread. */
const UNREAD_MS = 5_000;

/** For what is not HTTP at all: there is no request and no route, but there is an answer. */
export function answerMalformedHttp(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const giveUp = setTimeout(() => socket.destroy(), UNREAD_MS).unref();
  socket.once("close", () => clearTimeout(giveUp));
  const requestId = randomUUID();
  const problem = problemDetails(toldError(meaningOf(error)), "/", requestId);
  const body = problemJson(problem);
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ""}`,
      "Connection: close",
      "Content-Type: application/problem+json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      ...safeHeaders.map(([name, value]) => `${name}: ${value}`),
      "",
      body,
    ].join("\r\n"),
    () => socket.destroy(),
  );
}

function meaningOf({ code }: NodeJS.ErrnoException): RequestError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new RequestError("headers_too_large", "The headers are too large.");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new RequestError("request_timeout", "The request did not arrive in time.");
    default:
      return new RequestError("malformed_request", "The request is not valid HTTP.");
  }
}
