import type { Request, Response } from "express";
import { randomUUID } from "node:crypto";
import type { AuthenticatedCaller } from "../../../application/use-cases/authenticate-caller";
import type { ProblemCode } from "../problems/problem-table";

/** What is known of a request beside what it says itself. */
export interface RequestContext {
  readonly requestId: string;
  /** When its headers were there. On the clock of `performance.now()`. */
  readonly startedAtMs: number;
  caller?: AuthenticatedCaller;
  /** Whether the caller's key is still one: for answers that go on for longer than a revocation may take. */
  isStillKnown?: () => Promise<boolean>;
  /** Why it was refused, for the log. */
  problem?: ProblemCode;
  /** Of a request with many parts: how many of them got which status, for the log. */
  results?: Readonly<Record<number, number>>;
}

/** An id that a proxy or a client gave is kept if it is harmless in logs and headers; all others are replaced. */
const HARMLESS_ID = /^[A-Za-z0-9._-]{1,64}$/;

export function openContext(request: Request, response: Response): RequestContext {
  const given = request.headers["x-request-id"];
  const requestId = typeof given === "string" && HARMLESS_ID.test(given) ? given : randomUUID();
  const context: RequestContext = { requestId, startedAtMs: performance.now() };
  response.locals["context"] = context;
  return context;
}

export function contextOf(response: Response): RequestContext {
  return response.locals["context"] as RequestContext;
}

/** Whom the request acts for. Only behind the `authenticated` middleware. */
export function callerOf(response: Response): AuthenticatedCaller {
  const { caller } = contextOf(response);
  if (caller === undefined) throw new Error("this route is not behind authentication");
  return caller;
}
