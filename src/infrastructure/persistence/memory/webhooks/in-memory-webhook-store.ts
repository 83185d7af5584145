import type { FanOutState, NewDelivery } from "../../../../application/ports/events/webhook-fan-out-store";
import type { WebhookStore } from "../../../../application/ports/events/webhook-store";
import type { NewPublicEvent } from "../../../../application/public-events/public-event";
import { InMemoryAuditTrail } from "../in-memory-audit-trail";
import { InMemoryDeliveryQueue } from "./in-memory-delivery-queue";
import { InMemoryWebhookDeliveries } from "./in-memory-webhook-deliveries";
import { InMemoryWebhookEndpoints } from "./in-memory-webhook-endpoints";
import { WebhookMemory, type WebhookContent } from "./webhook-memory";

/**
 * Webhooks in the memory of one process. Excludes whoever else is in it: each call is one turn.
 * Survives nothing, but can be given what a snapshot has kept.
 * Not for many deliveries: it looks at all that are pending.
 */
export class InMemoryWebhookStore implements WebhookStore {
  private readonly memory = new WebhookMemory();
  readonly endpoints: InMemoryWebhookEndpoints;
  readonly deliveries = new InMemoryWebhookDeliveries(this.memory);
  readonly queue: InMemoryDeliveryQueue;
  readonly fanOut = {
    state: async (): Promise<FanOutState> => this.memory.state,
    advance: async (from: FanOutState, to: number, deliveries: readonly NewDelivery[]): Promise<boolean> => {
      const { memory } = this;
      const { position, generation } = memory.state;
      if (from.position !== position || from.generation !== generation) return false;
      for (const delivery of deliveries) memory.add(delivery);
      memory.state = { generation, position: to };
      memory.revision += 1;
      return true;
    },
  };

  constructor(tell: (event: NewPublicEvent) => void, trail = new InMemoryAuditTrail()) {
    this.endpoints = new InMemoryWebhookEndpoints(this.memory, trail);
    this.queue = new InMemoryDeliveryQueue(this.memory, tell, trail);
  }

  /** Grows with each change. */
  get revision(): number {
    return this.memory.revision;
  }

  content(): WebhookContent {
    return this.memory.content();
  }

  restore(content: WebhookContent): void {
    this.memory.restore(content);
  }
}
