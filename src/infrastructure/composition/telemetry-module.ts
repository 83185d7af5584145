import { ContainerModule } from "inversify";
import { collectDefaultMetrics, Gauge, Registry, type PrometheusContentType } from "prom-client";
import type { LockObserver } from "../../application/ports/lock-observer";
import type { PaymentRepository } from "../../application/ports/payment-repository";
import { lockLog } from "../telemetry/lock-log";
import { lockMetrics } from "../telemetry/lock-metrics";
import { lockObservers } from "../telemetry/lock-observers";
import type { OpenStore } from "./open-store";
import { makeLogger } from "./logger";
import { tokens } from "./tokens";

export interface OpenTelemetry {
  readonly registry: Registry<PrometheusContentType>;
  readonly lockObserver: LockObserver;
  readonly module: ContainerModule;
}

/** One registry a process: metrics of two applications in one process do not mix. */
export function openTelemetry(logLevel: string): OpenTelemetry {
  const logger = makeLogger(logLevel);
  const registry = new Registry();
  const lockObserver = lockObservers(lockMetrics(registry), lockLog(logger));
  return {
    registry,
    lockObserver,
    module: new ContainerModule(({ bind }) => {
      bind(tokens.logger).toConstantValue(logger);
      bind(tokens.metrics).toConstantValue(registry);
      bind(tokens.lockObserver).toConstantValue(lockObserver);
    }),
  };
}

/** What a server shows beside its locks and requests: the process, and what waits for a person. */
export function serverMetrics(
  registry: Registry<PrometheusContentType>,
  payments: PaymentRepository,
  storeConnections?: OpenStore["connections"],
): void {
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "holdfast_operations_in_review",
    help: "Operations whose outcome a person has to decide",
    registers: [registry],
    async collect() {
      // A store that is down must not take the other metrics with it.
      this.set(await payments.countInReview().catch(() => NaN));
    },
  });
  if (storeConnections === undefined) return;
  new Gauge({
    name: "holdfast_store_connections",
    help: "Connections to the store: open, idle, callers waiting for one, and how many there may be",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(storeConnections())) this.set({ state }, count);
    },
  });
}
