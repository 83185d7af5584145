import { Counter, Histogram, type PrometheusContentType, type Registry } from "prom-client";
import type { WebhookStore } from "../../application/ports/events/webhook-store";
import type { WebhookObserver } from "../../application/webhooks/webhook-observer";
import { gaugeOfStore } from "./gauge-of-store";
import type { LockLogger } from "./lock-log";

/** From at once to the end of the schedule. */
const LAG_BUCKETS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 600, 3_600, 36_000, 345_600];

/** Counts and writes down what becomes of webhooks. Labels are few whatever is delivered; bodies and secrets are nowhere. */
export function webhookTelemetry(
  registry: Registry<PrometheusContentType>,
  logger: LockLogger,
): WebhookObserver {
  const registers = [registry];
  const attempts = new Counter({
    name: "holdfast_webhook_attempts_total",
    help: "Attempts to deliver a webhook, by what became of the delivery and why it failed",
    labelNames: ["outcome", "failure"],
    registers,
  });
  const lag = new Histogram({
    name: "holdfast_webhook_delivery_lag_seconds",
    help: "From an event to its delivery",
    buckets: LAG_BUCKETS_S,
    registers,
  });
  const disabled = new Counter({
    name: "holdfast_webhook_endpoints_disabled_total",
    help: "Webhook endpoints that were disabled because of what they answered",
    labelNames: ["reason"],
    registers,
  });
  return {
    attempted: ({ outcome, failure, lagMs, ...facts }) => {
      attempts.inc({ outcome, failure: failure ?? "none" });
      if (outcome === "delivered") lag.observe(lagMs / 1_000);
      else logger.info({ event: `webhook_${outcome}`, failure, ...facts }, `a webhook was ${outcome}`);
    },
    disabled: (endpointId, reason) => {
      disabled.inc({ reason });
      logger.warn(
        { event: "webhook_endpoint_disabled", endpointId, reason },
        "a webhook endpoint was disabled",
      );
    },
    failed: (error) => logger.warn({ err: error }, "delivering webhooks failed; it is tried again"),
  };
}

/** What the store knows, when somebody asks. */
export function webhookGauges(
  registry: Registry<PrometheusContentType>,
  store: WebhookStore,
  now: () => Date,
): void {
  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    gaugeOfStore(registry, name, help, read);
  gauge("holdfast_webhook_deliveries_pending", "Webhooks that are still to be delivered", async () => {
    return (await store.queue.backlog(now())).pending;
  });
  gauge(
    "holdfast_webhook_oldest_due_seconds",
    "For how long the oldest webhook that is due has been",
    async () => {
      const { oldestDueAt } = await store.queue.backlog(now());
      return oldestDueAt === null ? 0 : (now().getTime() - oldestDueAt.getTime()) / 1_000;
    },
  );
  gauge("holdfast_webhook_endpoints_disabled", "Webhook endpoints that are disabled now", () =>
    store.endpoints.countDisabled(),
  );
}
