import type { WebhookDelivery } from "../../../../application/ports/events/webhook-delivery-store";
import type { FanOutState, NewDelivery } from "../../../../application/ports/events/webhook-fan-out-store";
import type {
  WebhookDeliveryId,
  WebhookEndpoint,
  WebhookEndpointId,
} from "../../../../domain/webhooks/webhook-endpoint";

export interface StoredEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly startsAfter: number;
}
export interface StoredDelivery extends WebhookDelivery, Pick<NewDelivery, "line" | "position"> {}

export interface WebhookContent {
  readonly endpoints: readonly StoredEndpoint[];
  readonly deliveries: readonly StoredDelivery[];
  readonly state: FanOutState;
}

/** The rows of webhooks, so to speak, with the ways in which they are looked for. */
export class WebhookMemory {
  readonly endpoints = new Map<WebhookEndpointId, StoredEndpoint>();
  readonly deliveries = new Map<WebhookDeliveryId, StoredDelivery>();
  readonly pending = new Map<WebhookEndpointId, Set<WebhookDeliveryId>>();
  state: FanOutState = { position: 0, generation: 0 };
  /** Grows with each change. */
  revision = 0;
  private readonly byEvent = new Map<string, WebhookDeliveryId>();

  content(): WebhookContent {
    const { state } = this;
    return { endpoints: [...this.endpoints.values()], deliveries: [...this.deliveries.values()], state };
  }

  restore({ endpoints, deliveries, state }: WebhookContent): void {
    for (const one of endpoints) this.endpoints.set(one.endpoint.id, one);
    for (const one of deliveries) this.put(one);
    this.state = state;
  }

  ofEvent(delivery: Pick<NewDelivery, "endpointId" | "eventId">): StoredDelivery | undefined {
    const known = this.byEvent.get(keyOf(delivery));
    return known === undefined ? undefined : this.deliveries.get(known);
  }

  pendingOf(endpointId: WebhookEndpointId): readonly StoredDelivery[] {
    return [...(this.pending.get(endpointId) ?? [])].flatMap((id) => this.deliveries.get(id) ?? []);
  }

  add(delivery: NewDelivery): void {
    if (this.byEvent.has(keyOf(delivery))) return;
    const { createdAt: dueAt } = delivery;
    this.put({ ...delivery, status: "pending", attempts: 0, dueAt, settledAt: null, lastAttempt: null });
  }

  put(delivery: StoredDelivery): void {
    this.deliveries.set(delivery.id, delivery);
    this.byEvent.set(keyOf(delivery), delivery.id);
    const theirs = this.pending.get(delivery.endpointId) ?? new Set();
    if (delivery.status === "pending") this.pending.set(delivery.endpointId, theirs.add(delivery.id));
    else if (theirs.delete(delivery.id) && theirs.size === 0) this.pending.delete(delivery.endpointId);
  }

  drop(id: WebhookDeliveryId): void {
    const delivery = this.deliveries.get(id);
    if (delivery === undefined) return;
    this.deliveries.delete(id);
    this.byEvent.delete(keyOf(delivery));
    this.revision += 1;
  }

  endpointsChanged(): void {
    this.state = { ...this.state, generation: this.state.generation + 1 };
    this.revision += 1;
  }
}

function keyOf({ endpointId, eventId }: Pick<NewDelivery, "endpointId" | "eventId">): string {
  return `${endpointId} ${eventId}`;
}
