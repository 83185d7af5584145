import type { RequestHandler } from "express";
import type { LockObserver } from "../../../application/ports/lock-observer";
import type { WebhookSender } from "../../../application/ports/events/webhook-sender";
import type { WorkTraces } from "../../../application/ports/traces/work-traces";
import type { StoreSetting } from "../../configuration/adapter-urls";
import type { DatabaseSystem } from "../../telemetry/tracing/traced-payments";
import type { WatchGateway } from "../../telemetry/watched-gateway";
import { version } from "../version";
import type { OpenStore } from "./open-store";

/** What is put around the parts of a server that is traced. One that is not has none of it. */
export interface OpenTracing {
  readonly requests: RequestHandler;
  readonly locks: LockObserver;
  readonly gateway: WatchGateway;
  readonly work: WorkTraces;
  readonly webhooks: (sender: WebhookSender) => WebhookSender;
  /** For each line of the log. */
  readonly logged: () => object;
  readonly close: () => Promise<void>;
}

const systems: Readonly<Record<StoreSetting["kind"], DatabaseSystem>> = {
  memory: "memory",
  sqlite: "sqlite",
  postgres: "postgresql",
};

/** Loads what traces, which a program without an endpoint for it never does. */
export async function openTracing(
  endpoint: string,
  store: Pick<OpenStore, "payments" | "traceContexts">,
  kind: StoreSetting["kind"],
  onError: (message: string) => void,
): Promise<OpenTracing> {
  const { startOtelSdk } = await import("../../telemetry/tracing/otel-sdk.js");
  const { currentTrace, logged } = await import("../../telemetry/tracing/trace-context.js");
  const { tracedGateway } = await import("../../telemetry/tracing/traced-gateway.js");
  const { tracedLocks } = await import("../../telemetry/tracing/traced-locks.js");
  const { tracePayments } = await import("../../telemetry/tracing/traced-payments.js");
  const { tracedRequests } = await import("../../telemetry/tracing/traced-requests.js");
  const { tracedWebhooks } = await import("../../telemetry/tracing/traced-webhooks.js");
  const { tracedWork } = await import("../../telemetry/tracing/traced-work.js");
  const { tracer, contexts, close } = startOtelSdk(endpoint, version(), onError);
  const { payments, traceContexts } = store;
  traceContexts.keep(currentTrace);
  tracePayments(payments, traceContexts, systems[kind], tracer);
  return {
    requests: tracedRequests(tracer, contexts),
    locks: tracedLocks(tracer),
    gateway: tracedGateway(tracer),
    work: tracedWork(traceContexts, tracer, contexts),
    webhooks: (sender) => tracedWebhooks(sender, traceContexts, tracer),
    logged,
    close,
  };
}
