import { Counter, type PrometheusContentType, type Registry } from "prom-client";
import type { HintObserver } from "../../application/gateway-events/hint-observer";
import type { HintStore } from "../../application/ports/gateway-events/hint-store";
import { gaugeOfStore } from "./gauge-of-store";
import type { LockLogger } from "./lock-log";

/** Counts and writes down what becomes of the gateway's events. References of authorizations are all that is told of them. */
export function hintTelemetry(registry: Registry<PrometheusContentType>, logger: LockLogger): HintObserver {
  const registers = [registry];
  const received = new Counter({
    name: "holdfast_gateway_events_total",
    help: "Events of the gateway, by the way they came and what was done with them",
    labelNames: ["source", "reception"],
    registers,
  });
  const worked = new Counter({
    name: "holdfast_hints_worked_total",
    help: "Hints of the gateway that were worked on, by what came of it",
    labelNames: ["outcome"],
    registers,
  });
  const dropped = new Counter({
    name: "holdfast_hints_dropped_total",
    help: "Hints of the gateway that were given up",
    registers,
  });
  return {
    received: (source, reception, events) => {
      if (events > 0) received.inc({ source, reception }, events);
    },
    worked: (outcome, reference) => {
      worked.inc({ outcome });
      logger.debug({ event: "hint_worked", outcome, reference }, "a hint of the gateway was worked on");
    },
    dropped: (reference) => {
      dropped.inc();
      logger.warn(
        { event: "hint_dropped", reference },
        "a hint of the gateway was dropped: its payment was not found, or the gateway gave no answer, for 30 days",
      );
    },
    droppedBeyondLimit: (hints) => {
      dropped.inc(hints);
      logger.warn(
        { event: "hints_dropped", hints },
        "too many hints of the gateway wait: the oldest were dropped",
      );
    },
    failed: (error) =>
      logger.warn({ err: error }, "working on hints of the gateway failed; it is tried again"),
  };
}

/** What the store knows, when somebody asks. */
export function hintGauges(
  registry: Registry<PrometheusContentType>,
  store: Pick<HintStore, "backlog">,
  now: () => Date,
): void {
  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    gaugeOfStore(registry, name, help, read);
  gauge("holdfast_hints_waiting", "Hints of the gateway that are still to be worked on", async () => {
    return (await store.backlog()).waiting;
  });
  gauge(
    "holdfast_hints_oldest_seconds",
    "For how long the oldest hint of the gateway has waited",
    async () => {
      const { oldestAt } = await store.backlog();
      return oldestAt === null ? 0 : (now().getTime() - oldestAt.getTime()) / 1_000;
    },
  );
}
