import type { Selectable } from "kysely";

export interface WebhookEndpointTable {
  id: string;
  merchant_id: string;
  url: string;
  /** A JSON array; null for all. */
  types: string | null;
  description: string | null;
  ordered: bigint;
  /** The feed's position up to which nothing is for it. */
  starts_after: bigint;
  secret: string;
  previous_secret: string | null;
  previous_until: bigint | null;
  created_at: bigint;
  updated_at: bigint;
  disabled_at: bigint | null;
  disabled_reason: string | null;
  failing_since: bigint | null;
  failed_at: bigint | null;
  deleted_at: bigint | null;
}

/** One row. */
export interface WebhookFanOutTable {
  position: bigint;
  /** Counts changes of endpoints: triggers see to it. */
  generation: bigint;
}

export interface WebhookDeliveryTable {
  id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  event_at: bigint;
  /**
   * With the endpoint's id in front, so that it is looked for by itself: a server that has no statistics yet would else go
   * through all that is pending for the endpoint.
   */
  line: string;
  position: bigint;
  body: string;
  created_at: bigint;
  status: string;
  attempts: bigint;
  due_at: bigint | null;
  settled_at: bigint | null;
  attempted_at: bigint | null;
  attempt_status: bigint | null;
  attempt_failure: string | null;
  attempt_answer: string | null;
  attempt_ms: bigint | null;
  claimed_by: string | null;
  /** By the store's own clock. */
  claimed_until: bigint;
}

export interface WebhookTables {
  webhook_endpoints: WebhookEndpointTable;
  webhook_fan_out: WebhookFanOutTable;
  webhook_deliveries: WebhookDeliveryTable;
}

export type WebhookEndpointRow = Selectable<WebhookEndpointTable>;
export type WebhookDeliveryRow = Selectable<WebhookDeliveryTable>;
