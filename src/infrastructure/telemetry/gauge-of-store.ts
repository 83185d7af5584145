import { Gauge, type PrometheusContentType, type Registry } from "prom-client";

/** A gauge that the store is asked for whenever somebody reads the metrics. */
export function gaugeOfStore(
  registry: Registry<PrometheusContentType>,
  name: string,
  help: string,
  read: () => Promise<number>,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      // A store that is down must not take the other metrics with it.
      this.set(await read().catch(() => NaN));
    },
  });
}
