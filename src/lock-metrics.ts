/** `holdfast/lock-metrics`: what happens to locks, counted for Prometheus. Loads prom-client; holdfast/locks does not. */
export { lockMetrics } from "./infrastructure/telemetry/lock-metrics";
