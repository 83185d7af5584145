import { Histogram, type PrometheusContentType, type Registry } from "prom-client";
import type { RequestObserver } from "./access-log";

export type MetricsRegistry = Registry<PrometheusContentType>;

/** One series per route and status: there are a few dozen of them, whatever callers send. */
export function requestHistogram(registry: MetricsRegistry): RequestObserver {
  const histogram = new Histogram({
    name: "holdfast_http_request_duration_seconds",
    help: "Duration of requests, from the parsed request to the end of the answer, by method, route and status",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return {
    answered: ({ method, route, status, seconds }) => {
      histogram.observe({ method: knownMethods.has(method) ? method : "other", route, status }, seconds);
    },
  };
}

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
