import { ContainerModule } from "inversify";
import type { OpenTelemetry } from "../opening/open-telemetry";
import type { OpenTracing } from "../opening/open-tracing";
import { tokens } from "./tokens";

export function telemetryModule(
  { logger, metrics, lockObserver, recentHour }: OpenTelemetry,
  tracing: OpenTracing | undefined,
): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.logger).toConstantValue(logger);
    bind(tokens.metrics).toConstantValue(metrics);
    bind(tokens.recentHour).toConstantValue(recentHour);
    bind(tokens.workTraces).toConstantValue(tracing?.work);
    bind(tokens.traceRequests).toConstantValue(tracing?.requests);
    bind(tokens.traceWebhooks).toConstantValue(tracing?.webhooks);
    bind(tokens.lockObserver).toConstantValue(lockObserver);
  });
}
