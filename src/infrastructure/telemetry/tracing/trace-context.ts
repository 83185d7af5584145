import {
  context,
  propagation,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
  type Context,
  type Link,
  type SpanContext,
} from "@opentelemetry/api";

const NONE: Readonly<Record<string, string>> = {};

/** For a request to another service; nothing as long as nobody has installed a propagator. */
export function traceHeaders(): Readonly<Record<string, string>> {
  if (propagation.fields().length === 0) return NONE;
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  return headers;
}

/** The trace that is going on, as it is kept with what it begins; null if it is not recorded. */
export function currentTrace(): string | null {
  const current = trace.getActiveSpan()?.spanContext();
  if (current === undefined || (current.traceFlags & TraceFlags.SAMPLED) === 0) return null;
  return `00-${current.traceId}-${current.spanId}-01`;
}

/** To what was kept; nothing where that is no trace, or the one that is going on. */
export function linksTo(kept: readonly (string | null)[], from: Context = context.active()): Link[] {
  const here = trace.getSpanContext(from)?.traceId;
  return kept.flatMap((traceparent) => {
    const linked = traceparent === null ? undefined : spanContextOf(traceparent);
    return linked === undefined || linked.traceId === here ? [] : [{ context: linked }];
  });
}

function spanContextOf(traceparent: string): SpanContext | undefined {
  return trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }));
}

/** What a line of the log says of the trace that is going on. */
export function logged(): object {
  const current = trace.getActiveSpan()?.spanContext();
  return current === undefined ? {} : { trace_id: current.traceId, span_id: current.spanId };
}
