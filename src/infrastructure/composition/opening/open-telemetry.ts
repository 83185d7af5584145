import type { Logger } from "pino";
import { Registry, type PrometheusContentType } from "prom-client";
import type { LockObserver } from "../../../application/ports/lock-observer";
import type { OpenTracing } from "./open-tracing";
import { lockLog } from "../../telemetry/lock-log";
import { lockMetrics } from "../../telemetry/lock-metrics";
import { RecentHour } from "../../../interfaces/console/attention/recent-hour";
import { lockObservers } from "../../telemetry/lock-observers";
import { makeLogger } from "../../telemetry/logger";

export interface OpenTelemetry {
  readonly logger: Logger;
  readonly metrics: Registry<PrometheusContentType>;
  readonly lockObserver: LockObserver;
  /** For the console. */
  readonly recentHour: RecentHour;
}

/** One registry a process: metrics of two applications in one process do not mix. */
export function openTelemetry(
  logLevel: string,
  tracing?: Pick<OpenTracing, "logged" | "locks">,
): OpenTelemetry {
  const logger = makeLogger(logLevel, undefined, tracing?.logged);
  const metrics = new Registry();
  const recentHour = new RecentHour();
  const traced = tracing === undefined ? [] : [tracing.locks];
  const lockObserver = lockObservers(lockMetrics(metrics), lockLog(logger), recentHour, ...traced);
  return { logger, metrics, lockObserver, recentHour };
}
