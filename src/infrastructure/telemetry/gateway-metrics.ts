import { Histogram, type PrometheusContentType, type Registry } from "prom-client";
import type { WatchGateway } from "./watched-gateway";

/** From a gateway in the same process to the longest that a question may take. */
const BUCKETS_S = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/** How long the gateway takes, by what it is asked and what it answers. One that rejects is told as `failed`. */
export function gatewayMetrics(registry: Registry<PrometheusContentType>): WatchGateway {
  const duration = new Histogram({
    name: "holdfast_gateway_request_duration_seconds",
    help: "Time from asking the gateway to its answer, by question and outcome",
    labelNames: ["question", "outcome"],
    buckets: BUCKETS_S,
    registers: [registry],
  });
  return async (question, ask) => {
    const beganMs = performance.now();
    let outcome = "failed";
    try {
      const answer = await ask();
      ({ outcome } = answer);
      return answer;
    } finally {
      duration.observe({ question, outcome }, (performance.now() - beganMs) / 1_000);
    }
  };
}
