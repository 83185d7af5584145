import { context, propagation, SpanKind, SpanStatusCode, trace, type Tracer } from "@opentelemetry/api";
import type { Request, RequestHandler } from "express";
import type { SampledContexts } from "./sampled-contexts";

/** The work of a caller who went away goes on, and belongs to its trace. */
const LEFT_WORK_MS = 60_000;
/** What balancers and Prometheus ask every few seconds. */
const UNTRACED = new Set(["/healthz", "/readyz", "/metrics"]);

/** A span for each request, under the one of its caller if it names one. Named by its route, once that is known. */
export function tracedRequests(tracer: Tracer, contexts: SampledContexts): RequestHandler {
  return (request, response, next) => {
    if (UNTRACED.has(request.path)) return next();
    const { method } = request;
    const attributes = {
      "http.request.method": method,
      "url.path": request.path,
      "url.scheme": "http",
      "client.address": request.socket.remoteAddress ?? "",
    };
    const parent = propagation.extract(context.active(), request.headers);
    const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
    // One that is not sampled goes on as if nothing were traced: what is below it looks for this span, and finds none.
    if (!span.isRecording()) return next();
    const leave = contexts.enter();
    const { traceId } = span.spanContext();
    response.locals["traceId"] = traceId;
    response.once("close", () => {
      const route = routeOf(request);
      if (route !== undefined) {
        span.updateName(`${method} ${route}`);
        span.setAttribute("http.route", route);
      }
      if (response.headersSent) span.setAttribute("http.response.status_code", response.statusCode);
      if (!response.headersSent || response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      // Others listen for its end, too: the log's line says the trace.
      if (response.writableFinished) setImmediate(leave);
      else setTimeout(leave, LEFT_WORK_MS).unref();
    });
    context.with(trace.setSpan(parent, span), next);
  };
}

function routeOf({ baseUrl, route }: Request): string | undefined {
  const path = (route as { path?: unknown } | undefined)?.path;
  return typeof path === "string" ? `${baseUrl}${path}` : undefined;
}
