import { context, ROOT_CONTEXT, SpanStatusCode, trace, type Tracer } from "@opentelemetry/api";
import type { WorkTraces } from "../../../application/ports/traces/work-traces";
import type { TraceContexts } from "../../persistence/traces/trace-contexts";
import type { SampledContexts } from "./sampled-contexts";
import { linksTo } from "./trace-context";

/** What nobody waits for is a trace of its own: the request that began it ended long ago, perhaps with its process. */
export function tracedWork(
  kept: Pick<TraceContexts, "ofOperation">,
  tracer: Tracer,
  contexts: SampledContexts,
): WorkTraces {
  return {
    background: async (name, operationId, work) => {
      const begun = operationId === null ? null : await kept.ofOperation(operationId).catch(() => null);
      const span = tracer.startSpan(name, { root: true, links: linksTo([begun], ROOT_CONTEXT) });
      if (!span.isRecording()) return work();
      const leave = contexts.enter();
      try {
        return await context.with(trace.setSpan(ROOT_CONTEXT, span), work);
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
        leave();
      }
    },
  };
}
