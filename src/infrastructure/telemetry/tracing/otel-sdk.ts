import { context, diag, DiagLogLevel, propagation, trace, type Tracer } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { hostname } from "node:os";
import { inTime } from "../../../application/in-time";
import { SampledContexts } from "./sampled-contexts";

/** A collector that does not answer keeps no process from ending. */
const CLOSE_WITHIN_MS = 2_000;

export interface OtelSdk {
  readonly tracer: Tracer;
  readonly contexts: SampledContexts;
  readonly close: () => Promise<void>;
}

/**
 * The SDK, which nothing else names. How much is sampled is said by OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG, which it
 * reads itself; headers for the collector by OTEL_EXPORTER_OTLP_HEADERS.
 */
export function startOtelSdk(endpoint: string, version: string, onError: (message: string) => void): OtelSdk {
  diag.setLogger(
    { error: onError, warn: () => {}, info: () => {}, debug: () => {}, verbose: () => {} },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, "")}/v1/traces` });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      "service.name": process.env["OTEL_SERVICE_NAME"] ?? "holdfast",
      "service.version": version,
      "service.instance.id": `${hostname()}:${process.pid}`,
    }),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const manager = new AsyncLocalStorageContextManager();
  context.setGlobalContextManager(manager);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return {
    tracer: provider.getTracer("holdfast", version),
    contexts: new SampledContexts(manager),
    close: () => inTime(CLOSE_WITHIN_MS, provider.shutdown(), () => undefined),
  };
}
