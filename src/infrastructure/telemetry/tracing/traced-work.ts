import { ROOT_CONTEXT, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import type { WorkTraces } from "../../../application/ports/traces/work-traces";
import type { TraceContexts } from "../../persistence/traces/trace-contexts";
import { linksTo } from "./trace-context";

/** What nobody waits for is a trace of its own: the request that began it ended long ago, perhaps with its process. */
export function tracedWork(contexts: TraceContexts, tracer: Tracer): WorkTraces {
  return {
    background: async (name, operationId, work) => {
      const kept = operationId === null ? null : await contexts.ofOperation(operationId).catch(() => null);
      const options = { root: true, links: linksTo([kept], ROOT_CONTEXT) };
      return tracer.startActiveSpan(name, options, async (span) => {
        try {
          return await work();
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      });
    },
  };
}
