import { ContainerModule } from "inversify";
import type { OpenTelemetry } from "../opening/open-telemetry";
import { tokens } from "./tokens";

export function telemetryModule({ logger, metrics, lockObserver }: OpenTelemetry): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.logger).toConstantValue(logger);
    bind(tokens.metrics).toConstantValue(metrics);
    bind(tokens.lockObserver).toConstantValue(lockObserver);
  });
}
