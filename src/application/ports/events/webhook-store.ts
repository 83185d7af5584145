import type { WebhookDeliveryQueue } from "./webhook-delivery-queue";
import type { WebhookDeliveryStore } from "./webhook-delivery-store";
import type { WebhookEndpointStore } from "./webhook-endpoint-store";
import type { WebhookFanOutStore } from "./webhook-fan-out-store";

/**
 * Keeps webhook endpoints, and what is to be delivered to them. Every adapter MUST, in each of its parts, reject with
 * `StoreUnavailableError` when it cannot tell or cannot write, with nothing half-written.
 */
export interface WebhookStore {
  readonly endpoints: WebhookEndpointStore;
  /** From the feed to deliveries. */
  readonly fanOut: WebhookFanOutStore;
  /** From deliveries that are due to what became of them. */
  readonly queue: WebhookDeliveryQueue;
  /** Deliveries to look at. */
  readonly deliveries: WebhookDeliveryStore;
}

export interface WebhookPageQuery {
  readonly limit: number;
  readonly cursor?: string;
}
