import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { pathOf } from "../requests/answer";
import { openContext } from "../requests/request-context";
import { cameOverTls, safeHeaders, STRICT_TRANSPORT } from "./safe-headers";

/** Told of each request when it is over: the metrics. */
export interface RequestObserver {
  answered(request: AnsweredRequest): void;
}

export interface AnsweredRequest {
  readonly method: string;
  /** The pattern, not the path: ids would make as many series as there are payments. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  /** Of a request with many parts: how many of them got which status. */
  readonly results?: Readonly<Record<number, number>> | undefined;
}

/**
 * Names each request, and writes one line about it when it is over. No header, query or body is ever written: those are
 * where secrets are. By hand and not pino-http, whose child loggers cost more than the rest of a request's middleware.
 */
export function accessLog(logger: Logger, observers: readonly RequestObserver[] = []): RequestHandler {
  return (request, response, next) => {
    const context = openContext(request, response);
    response.setHeader("X-Request-Id", context.requestId);
    for (const [name, value] of safeHeaders) response.setHeader(name, value);
    if (cameOverTls(request.headers)) response.setHeader("Strict-Transport-Security", STRICT_TRANSPORT);
    response.once("close", () => {
      const durationMs = performance.now() - context.startedAtMs;
      const { method } = request;
      // 499: nothing was answered, because nobody was there any more.
      const status = response.headersSent ? response.statusCode : 499;
      const route = routeOf(request.baseUrl, request.route);
      const { requestId, caller, problem, results } = context;
      for (const observer of observers)
        observer.answered({ method, route, status, seconds: durationMs / 1_000, results });
      const line = {
        requestId,
        method,
        path: pathOf(request),
        status,
        durationMs: Math.round(durationMs * 10) / 10,
        merchant: caller?.merchant,
        keyId: caller?.keyId,
        problem,
        results,
        // Of a request that is traced.
        trace_id: response.locals["traceId"] as string | undefined,
      };
      if (status >= 500) logger.warn(line, "answered");
      else if (route === "/healthz" || route === "/readyz") logger.debug(line, "answered");
      else logger.info(line, "answered");
    });
    next();
  };
}

function routeOf(baseUrl: string, route: unknown): string {
  const path = (route as { path?: unknown } | undefined)?.path;
  return typeof path === "string" ? `${baseUrl}${path}`.replace(/(.)\/$/, "$1") : "none";
}
