import { collectDefaultMetrics, Gauge, type PrometheusContentType, type Registry } from "prom-client";
import type { PaymentRepository } from "../../application/ports/payment-repository";

/** How many connections there are in each state. */
export type ConnectionCounts = () => Readonly<Record<string, number>>;

/** What a server shows beside its locks and requests: the process, and what waits for a person. */
export function serverMetrics(
  registry: Registry<PrometheusContentType>,
  payments: PaymentRepository,
  storeConnections: ConnectionCounts | undefined,
): Registry<PrometheusContentType> {
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
  if (storeConnections === undefined) return registry;
  new Gauge({
    name: "holdfast_store_connections",
    help: "Connections to the store by state: open, idle, the limit, and callers that wait for one",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(storeConnections())) this.set({ state }, count);
    },
  });
  return registry;
}
