import { Gauge, type PrometheusContentType, type Registry } from "prom-client";
import type { Clock } from "../../application/ports/clock";
import type { PaymentRepository } from "../../application/ports/payment-repository";
import { EXPIRY_GRACE_MS } from "../../application/use-cases/expire-authorizations";
import { gaugeOfStore } from "./gauge-of-store";

/** What waits for the gateway, for a person, or for the background passes, and for how long. Asked when somebody reads it. */
export function workMetrics(
  registry: Registry<PrometheusContentType>,
  payments: PaymentRepository,
  clock: Clock,
): void {
  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    gaugeOfStore(registry, name, help, read);
  const secondsSince = (at: Date | null | undefined, from = clock.now()) =>
    at === null || at === undefined ? 0 : Math.max(0, from.getTime() - at.getTime()) / 1_000;

  gauge("holdfast_operations_in_review", "Operations whose outcome a person has to decide", async () =>
    payments.countInReview(),
  );
  gauge(
    "holdfast_reviews_oldest_seconds",
    "For how long the oldest operation that a person has to decide has been open; 0 if there is none",
    async () => secondsSince((await payments.operationsInReview({ limit: 1 })).data[0]?.createdAt),
  );
  gauge(
    "holdfast_operations_oldest_unknown_seconds",
    "For how long the oldest operation whose outcome is not known has been open; 0 if there is none",
    async () => secondsSince((await payments.unsettled()).oldestUnknownAt),
  );
  gauge(
    "holdfast_releases_refused",
    "Releases of reserved money that the gateway has refused and that are tried again",
    async () => (await payments.unsettled()).refusedReleases,
  );
  new Gauge({
    name: "holdfast_pass_late_seconds",
    help: "For how long the oldest work of a background pass has been due; 0 if none is",
    labelNames: ["pass"],
    registers: [registry],
    async collect() {
      const now = clock.now();
      const lapsedBy = new Date(now.getTime() - EXPIRY_GRACE_MS);
      const [due, lapsed] = await Promise.all([
        payments.dueOperations(now, 1).then(([first]) => secondsSince(first?.dueAt, now), failed),
        payments
          .lapsedAuthorizations(lapsedBy, 1)
          .then(([first]) => secondsSince(first?.expiresAt, lapsedBy), failed),
      ]);
      this.set({ pass: "reconcile" }, due);
      this.set({ pass: "expire" }, lapsed);
    },
  });
}

/** A store that is down must not take the other metrics with it. */
const failed = () => NaN;
