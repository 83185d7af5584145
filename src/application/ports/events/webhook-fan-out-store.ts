import type { WebhookDeliveryId, WebhookEndpointId } from "../../../domain/webhooks/webhook-endpoint";

/**
 * Every adapter MUST
 * - fan out in one transaction: the deliveries and the new position, or nothing; and nothing if the position or any
 *   endpoint has changed since the state was read, so that each event meets each endpoint once;
 * - keep at most one delivery of an event for an endpoint, with the body it was given first.
 */
export interface WebhookFanOutStore {
  state(): Promise<FanOutState>;
  advance(from: FanOutState, to: number, deliveries: readonly NewDelivery[]): Promise<boolean>;
}

export interface FanOutState {
  /** All events up to here have been given to those who want them. */
  readonly position: number;
  /** Another one whenever endpoints changed. */
  readonly generation: number;
}

export interface NewDelivery {
  readonly id: WebhookDeliveryId;
  readonly endpointId: WebhookEndpointId;
  readonly eventId: string;
  readonly eventType: string;
  readonly eventAt: Date;
  /** What is delivered one after the other: a payment's id, or the event's where there is none. */
  readonly line: string;
  /** In the feed; 0 where it is not in the feed. */
  readonly position: number;
  /** As it is sent, at each attempt. */
  readonly body: string;
  readonly createdAt: Date;
}
