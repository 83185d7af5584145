import { Gauge, Histogram, type PrometheusContentType, type Registry } from "prom-client";

/** How many connections there are in each state. */
export type ConnectionCounts = () => Readonly<Record<string, number>>;

/** What a store tells of its own work, where it has such work. */
export interface StoreTelemetry {
  readonly connections?: ConnectionCounts | undefined;
  /** Called with how many writes each commit has made durable. */
  readonly onCommit?: ((listener: (writes: number) => void) => void) | undefined;
  /** Called with how long each statement has waited for a connection. */
  readonly onConnection?: ((listener: (waitedMs: number) => void) => void) | undefined;
}

/** From a connection that is idle to the longest that a statement may take. */
const WAIT_BUCKETS_S = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 4];
const COMMIT_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export function storeMetrics(
  registry: Registry<PrometheusContentType>,
  { connections, onCommit, onConnection }: StoreTelemetry,
): void {
  const registers = [registry];
  if (onCommit !== undefined) {
    const writes = new Histogram({
      name: "holdfast_store_commit_writes",
      help: "Writes that one commit of the SQLite file has made durable together",
      buckets: COMMIT_BUCKETS,
      registers,
    });
    onCommit((count) => writes.observe(count));
  }
  if (onConnection !== undefined) {
    const wait = new Histogram({
      name: "holdfast_store_connection_wait_seconds",
      help: "Time from asking the pool for a connection to the store to having one",
      buckets: WAIT_BUCKETS_S,
      registers,
    });
    onConnection((waitedMs) => wait.observe(waitedMs / 1_000));
  }
  if (connections === undefined) return;
  new Gauge({
    name: "holdfast_store_connections",
    help: "Connections to the store by state: open, idle, the limit, and callers that wait for one",
    labelNames: ["state"],
    registers,
    collect() {
      for (const [state, count] of Object.entries(connections())) this.set({ state }, count);
    },
  });
}
