import { WebhookError } from "../../domain/webhooks/errors";
import {
  parseWebhookDeliveryId,
  wants,
  type WebhookDeliveryId,
  type WebhookEndpoint,
  type WebhookEndpointId,
} from "../../domain/webhooks/webhook-endpoint";
import type { MerchantId } from "../../domain/identifiers";
import { entryOf, type Act } from "../audit/act";
import type { FeedEvent } from "../ports/events/event-feed";
import type { Page } from "../ports/payment-repository";
import type { DeliveryStatus, WebhookDelivery } from "../ports/events/webhook-delivery-store";
import type { NewDelivery } from "../ports/events/webhook-fan-out-store";
import type { WebhookPageQuery } from "../ports/events/webhook-store";
import { publicEventWire } from "../public-events/public-event";
import { ofEvent } from "./fan-out-events";
import { cursorChecked, type ManageWebhookEndpoints } from "./manage-webhook-endpoints";
import type { WebhookContext } from "./webhook-context";

/** What an endpoint is sent when its merchant wants to see whether anything arrives. In no feed. */
export const TEST_EVENT_TYPE = "webhook_endpoint.test";
const PAGE = 500;

type Parts = Pick<WebhookContext, "store" | "feed" | "clock" | "ids" | "limits"> & {
  readonly endpoints: Pick<ManageWebhookEndpoints, "one">;
  /** There is something to deliver that is not in the feed. */
  readonly onEnqueued: () => void;
};

/** Deliveries to look at, and to make again. What is made here goes the very way of all others. */
export class RedeliverWebhooks {
  constructor(private readonly parts: Parts) {}

  async list(
    endpointId: WebhookEndpointId,
    merchant: MerchantId,
    query: WebhookPageQuery & { readonly status?: DeliveryStatus },
  ): Promise<Page<WebhookDelivery>> {
    await this.parts.endpoints.one(endpointId, merchant);
    return cursorChecked(this.parts.store.deliveries.list(endpointId, query));
  }

  /** Of which endpoint it is, for an operator. */
  async endpointOf(id: WebhookDeliveryId): Promise<WebhookEndpointId> {
    return (await this.delivery(id)).endpointId;
  }

  async test(endpointId: WebhookEndpointId, merchant: MerchantId, act: Act): Promise<WebhookDelivery> {
    const { store, clock, ids } = this.parts;
    const { id, url, description } = await this.enabled(endpointId, merchant);
    const eventId = ids.nextId();
    const at = clock.now();
    const event = {
      id: eventId,
      type: TEST_EVENT_TYPE,
      timestamp: at.toISOString(),
      data: { webhookEndpoint: { id, url, description } },
    };
    const delivery: NewDelivery = {
      id: parseWebhookDeliveryId(ids.nextId()),
      endpointId,
      eventId,
      eventType: TEST_EVENT_TYPE,
      eventAt: at,
      line: eventId,
      position: 0,
      body: JSON.stringify(event),
      createdAt: at,
    };
    const done = { kind: "webhook_endpoint.tested", subject: endpointId, merchant } as const;
    await store.queue.enqueue([delivery], entryOf(act, done, this.parts));
    this.parts.onEnqueued();
    return this.delivery(delivery.id);
  }

  /** Once more from the first attempt on, with the same id and body, whatever became of it. */
  async redeliver(id: WebhookDeliveryId, merchant: MerchantId, act: Act): Promise<WebhookDelivery> {
    const { store, clock } = this.parts;
    const before = await this.delivery(id);
    const endpoint = await this.enabled(before.endpointId, merchant).catch((error: unknown) => {
      // Nor does a delivery of somebody else's endpoint exist.
      if (error instanceof WebhookError && error.code === "webhook_endpoint_not_found")
        throw deliveryNotFound(id);
      throw error;
    });
    if (before.status === "pending") {
      throw new WebhookError(
        "webhook_delivery_pending",
        `Delivery ${id} is under way already: its next attempt is due at ${before.dueAt?.toISOString()}.`,
      );
    }
    const { eventId, eventType } = before;
    const details = { endpointId: endpoint.id, eventId, eventType };
    const done = { kind: "webhook_delivery.redelivered", subject: id, merchant, details } as const;
    await store.queue.enqueue(
      [{ ...before, endpointId: endpoint.id, line: eventId, position: 0, createdAt: clock.now() }],
      entryOf(act, done, this.parts),
    );
    this.parts.onEnqueued();
    return this.delivery(id);
  }

  /** Every event of that time that the endpoint wants now, once more. Resolves with how many those are. */
  async replay(
    endpointId: WebhookEndpointId,
    merchant: MerchantId,
    { from, to }: { readonly from: Date; readonly to: Date },
    act: Act,
  ): Promise<number> {
    const { store, feed, limits } = this.parts;
    const endpoint = await this.enabled(endpointId, merchant);
    const wanted: FeedEvent[] = [];
    for (let after = 0, isMore = true; isMore;) {
      const page = await feed.read({ after, merchant, limit: PAGE });
      wanted.push(
        ...page.events.filter((event) => wants(endpoint, event) && event.at >= from && event.at <= to),
      );
      after = page.through;
      isMore = page.isFull;
      if (wanted.length > limits.replay) {
        throw new WebhookError(
          "webhook_replay_too_long",
          `There are more than ${limits.replay} events between these times: replay them in several parts.`,
        );
      }
    }
    const details = { from: from.toISOString(), to: to.toISOString(), events: wanted.length };
    const done = { kind: "webhook_endpoint.replayed", subject: endpointId, merchant, details } as const;
    const entry = entryOf(act, done, this.parts);
    for (let at = 0; at < wanted.length; at += limits.batch) {
      const deliveries = wanted.slice(at, at + limits.batch).map((event) => this.again(endpoint, event));
      // With the first of them: nothing is replayed of which there is no entry.
      await store.queue.enqueue(deliveries, at === 0 ? entry : undefined);
    }
    this.parts.onEnqueued();
    return wanted.length;
  }

  private again({ id: endpointId }: WebhookEndpoint, event: FeedEvent): NewDelivery {
    const { clock, ids } = this.parts;
    const body = JSON.stringify(publicEventWire(event));
    const id = parseWebhookDeliveryId(ids.nextId());
    return { id, endpointId, ...ofEvent(event, body), createdAt: clock.now() };
  }

  private async enabled(id: WebhookEndpointId, merchant: MerchantId): Promise<WebhookEndpoint> {
    const endpoint = await this.parts.endpoints.one(id, merchant);
    if (endpoint.disabled === null) return endpoint;
    throw new WebhookError(
      "webhook_endpoint_disabled",
      `Webhook endpoint ${id} is disabled since ${endpoint.disabled.at.toISOString()}: enable it first.`,
    );
  }

  private async delivery(id: WebhookDeliveryId): Promise<WebhookDelivery> {
    const delivery = await this.parts.store.deliveries.find(id);
    if (delivery === null) throw deliveryNotFound(id);
    return delivery;
  }
}

function deliveryNotFound(id: WebhookDeliveryId): WebhookError {
  return new WebhookError("webhook_delivery_not_found", `There is no webhook delivery ${id}.`);
}
