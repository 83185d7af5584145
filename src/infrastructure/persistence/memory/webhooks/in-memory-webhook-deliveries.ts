import type { Page } from "../../../../application/ports/payment-repository";
import type {
  DeliveryStatus,
  TendingWork,
  WebhookDelivery,
  WebhookDeliveryStore,
} from "../../../../application/ports/events/webhook-delivery-store";
import type { WebhookPageQuery } from "../../../../application/ports/events/webhook-store";
import type { WebhookDeliveryId, WebhookEndpointId } from "../../../../domain/webhooks/webhook-endpoint";
import { idPage, readIdCursor } from "../../webhooks/webhook-cursor";
import type { WebhookMemory } from "./webhook-memory";

export class InMemoryWebhookDeliveries implements WebhookDeliveryStore {
  constructor(private readonly memory: WebhookMemory) {}

  async find(id: WebhookDeliveryId): Promise<WebhookDelivery | null> {
    return this.memory.deliveries.get(id) ?? null;
  }

  async list(
    endpointId: WebhookEndpointId,
    { status, limit, cursor }: WebhookPageQuery & { readonly status?: DeliveryStatus },
  ): Promise<Page<WebhookDelivery>> {
    const before = cursor === undefined ? "g" : readIdCursor(cursor);
    const found = [...this.memory.deliveries.values()]
      .filter((one) => one.endpointId === endpointId && one.id < before)
      .filter((one) => status === undefined || one.status === status)
      .sort((a, b) => (a.id < b.id ? 1 : -1));
    return idPage(found, limit);
  }

  async tend({ settledBefore, limit }: TendingWork): Promise<void> {
    const old = [...this.memory.deliveries.values()].filter(
      ({ settledAt }) => settledAt !== null && settledAt < settledBefore,
    );
    for (const { id } of old.slice(0, limit)) this.memory.drop(id);
  }
}
