import { SpanKind, SpanStatusCode, trace, type Tracer } from "@opentelemetry/api";
import type { WatchGateway } from "../watched-gateway";

/** A span for each question. Whatever the gateway's client sends meanwhile carries its context. */
export function tracedGateway(tracer: Tracer): WatchGateway {
  return (question, ask) => {
    if (trace.getActiveSpan() === undefined) return ask();
    return tracer.startActiveSpan(`gateway ${question}`, { kind: SpanKind.CLIENT }, async (span) => {
      try {
        const answer = await ask();
        span.setAttribute("holdfast.gateway.outcome", answer.outcome);
        if (answer.outcome === "unknown") span.setStatus({ code: SpanStatusCode.ERROR });
        return answer;
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
  };
}
