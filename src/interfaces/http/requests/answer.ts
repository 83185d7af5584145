import { once } from "node:events";
import type { Request, Response } from "express";
import { headersOfProblem, problemDetails, problemJson, type ToldError } from "../problems/problem-details";
import { problemKind } from "../problems/problem-table";
import { problemPageFor } from "./problem-page";
import { contextOf } from "./request-context";

/** For how long the rest of a request is read before its connection is closed on it. */
const LINGER_MS = 1_000;

/** Express's own `json` also makes an ETag and looks up types, at a cost that a capture notices. */
export function answerJson(response: Response, status: number, body: object): void {
  answerText(response, status, "application/json; charset=utf-8", JSON.stringify(body));
}

export function answerProblem(request: Request, response: Response, error: ToldError): void {
  const { status } = problemKind(error.code);
  for (const [name, value] of Object.entries(headersOfProblem(error))) response.setHeader(name, value);
  if (status === 401) response.setHeader("WWW-Authenticate", 'Bearer realm="holdfast"');
  const { allow } = error.facts as { allow?: readonly string[] };
  if (allow !== undefined) response.setHeader("Allow", allow.join(", "));
  const { requestId } = contextOf(response);
  const page = problemPageFor(request, response);
  if (page !== undefined) {
    answerText(response, status, "text/html; charset=utf-8", page(error, requestId));
    return;
  }
  const problem = problemDetails(error, pathOf(request), requestId);
  answerText(response, status, "application/problem+json; charset=utf-8", problemJson(problem));
}

export function answerText(
  response: Response,
  status: number,
  contentType: string,
  text: Buffer | string,
): void {
  response.statusCode = status;
  response.setHeader("Content-Type", contentType);
  response.setHeader("Content-Length", Buffer.byteLength(text));
  if (response.req.complete || !endsConnection(response)) response.end(text);
  else answerAndLinger(response, text);
}

/** The answer is there at once; but a connection that is closed on what was not read may take it away again. */
function answerAndLinger(response: Response, text: Buffer | string): void {
  const { req: request } = response;
  response.write(text);
  request.resume();
  void once(request, "end", { signal: AbortSignal.timeout(LINGER_MS) })
    .catch(() => {})
    .finally(() => response.end());
}

function endsConnection(response: Response): boolean {
  return !response.shouldKeepAlive || response.getHeader("Connection") === "close";
}

/** Without the query, which may hold anything; as a URI, and not longer than a reader needs. */
export function pathOf({ originalUrl }: Request): string {
  const path = originalUrl.split("?", 1)[0] ?? "";
  return path
    .slice(0, 200)
    .replace(/%(?![0-9A-Fa-f]{2})|[^\w\-.~:/@!$&'()*+,;=%]/g, (char) => encodeURIComponent(char));
}

/** Where what was made now stands, as the caller sees it, wherever this API is mounted. */
export function collectionOf(request: Request): string {
  return pathOf(request).replace(/\/$/, "");
}
