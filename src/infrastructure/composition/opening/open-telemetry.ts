import type { Logger } from "pino";
import { Registry, type PrometheusContentType } from "prom-client";
import type { LockObserver } from "../../../application/ports/lock-observer";
import { lockLog } from "../../telemetry/lock-log";
import { lockMetrics } from "../../telemetry/lock-metrics";
import { lockObservers } from "../../telemetry/lock-observers";
import { makeLogger } from "../../telemetry/logger";

export interface OpenTelemetry {
  readonly logger: Logger;
  readonly metrics: Registry<PrometheusContentType>;
  readonly lockObserver: LockObserver;
}

/** One registry a process: metrics of two applications in one process do not mix. */
export function openTelemetry(logLevel: string): OpenTelemetry {
  const logger = makeLogger(logLevel);
  const metrics = new Registry();
  return { logger, metrics, lockObserver: lockObservers(lockMetrics(metrics), lockLog(logger)) };
}
