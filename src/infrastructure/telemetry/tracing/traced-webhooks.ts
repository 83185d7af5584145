import { SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import type { WebhookSender } from "../../../application/ports/events/webhook-sender";
import type { TraceContexts } from "../../persistence/traces/trace-contexts";
import { linksTo } from "./trace-context";

/** A trace for each attempt, which refers to the one in which its event was told. Nothing below it is traced. */
export function tracedWebhooks(
  sender: WebhookSender,
  contexts: Pick<TraceContexts, "ofEvent">,
  tracer: Tracer,
): WebhookSender {
  return {
    send: async (request) => {
      const eventId = request.headers["webhook-id"];
      const kept = eventId === undefined ? null : await contexts.ofEvent(eventId).catch(() => null);
      const attributes = { "http.request.method": "POST", "server.address": new URL(request.url).hostname };
      const options = { kind: SpanKind.CLIENT, root: true, links: linksTo([kept]), attributes };
      const span = tracer.startSpan("deliver webhook", options);
      const outcome = await sender.send(request);
      if (outcome.status !== null) span.setAttribute("http.response.status_code", outcome.status);
      if (outcome.failure !== null) span.setAttribute("error.type", outcome.failure);
      if (outcome.result !== "delivered") span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      return outcome;
    },
  };
}
