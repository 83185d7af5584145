import { collectDefaultMetrics, type PrometheusContentType, type Registry } from "prom-client";
import type { Clock } from "../../application/ports/clock";
import type { PaymentRepository } from "../../application/ports/payment-repository";
import { storeMetrics, type StoreTelemetry } from "./store-metrics";
import { workMetrics } from "./work-metrics";

/** What a server shows beside its locks, its requests and its gateway: the process, its store, and what waits. */
export function serverMetrics(
  registry: Registry<PrometheusContentType>,
  payments: PaymentRepository,
  clock: Clock,
  store: StoreTelemetry,
): Registry<PrometheusContentType> {
  collectDefaultMetrics({ register: registry });
  workMetrics(registry, payments, clock);
  storeMetrics(registry, store);
  return registry;
}
