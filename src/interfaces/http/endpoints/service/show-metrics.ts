import type { MetricsRegistry } from "../../server/http-metrics";
import { endpoint } from "../endpoint";

export interface MetricsParts {
  readonly metrics: MetricsRegistry;
}

export const showMetrics = endpoint<MetricsParts>()({
  method: "get",
  path: "/metrics",
  operationId: "showMetrics",
  tag: "Service",
  summary: "Show metrics for Prometheus",
  access: "open",
  answers: { 200: { description: "Prometheus text format.", contentType: "text/plain" } },
  problems: [],
  async handle(_asked, { metrics }) {
    return { status: 200, text: await metrics.metrics(), contentType: metrics.contentType };
  },
});
