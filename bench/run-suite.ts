import type { Bench, Suite } from "./measuring/suite";
import type { Row } from "./measuring/row";

/** In the order in which they run: what is quick and what matters most comes first. */
const suites: Readonly<Record<string, () => Promise<Suite>>> = {
  "locks-memory": async () => (await import("./suites/locks-memory.js")).locksMemory,
  "locks-elsewhere": async () => (await import("./suites/locks-elsewhere.js")).locksElsewhere,
  "locks-snapshot": async () => (await import("./suites/locks-snapshot.js")).locksSnapshot,
  before: async () => (await import("./suites/before.js")).before,
  http: async () => (await import("./suites/http.js")).http,
  events: async () => (await import("./suites/events.js")).events,
  traces: async () => (await import("./suites/telemetry/traces.js")).traces,
  console: async () => (await import("./suites/console/console.js")).console,
  webhooks: async () => (await import("./suites/webhooks.js")).webhooks,
  "webhooks-fairness": async () => (await import("./suites/webhooks-fairness.js")).webhooksFairness,
  hints: async () => (await import("./suites/gateway/hints.js")).hints,
  capture: async () => (await import("./suites/capture.js")).capture,
  captures: async () => (await import("./suites/captures.js")).captures,
  postgres: async () => (await import("./suites/postgres.js")).postgres,
  peers: async () => (await import("./suites/peers.js")).peers,
  lease: async () => (await import("./suites/lease.js")).lease,
  wait: async () => (await import("./suites/wait.js")).wait,
  start: async () => (await import("./suites/start.js")).start,
  growth: async () => (await import("./suites/growth.js")).growth,
};

export const suiteNames = Object.keys(suites);

/** What the process of a suite tells the one that started it. */
export type Told = { readonly row: Row } | { readonly finding: string } | { readonly leftOut: string };

/** In a process of its own, so that one suite's heap and compiled code are nobody else's. */
async function main(name = "", size = ""): Promise<void> {
  const load = suites[name];
  if (load === undefined) throw new Error(`there is no suite ${name}`);
  const tell = (told: Told): void => void process.send?.(told);
  const bench: Bench = {
    tiny: size === "tiny",
    size: (full, tiny) => (size === "tiny" ? tiny : full),
    rounds: (full) => (size === "tiny" ? 1 : size === "short" ? Math.ceil(full / 3) : full),
    report: (row) => tell({ row }),
    tell: (finding) => tell({ finding }),
    leaveOut: (part, why) => tell({ leftOut: `${part}: ${why}` }),
  };
  const suite = await load();
  await suite(bench);
  process.disconnect();
}

if (require.main === module)
  main(...process.argv.slice(2)).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
