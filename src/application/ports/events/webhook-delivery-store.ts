import type { WebhookDeliveryId, WebhookEndpointId } from "../../../domain/webhooks/webhook-endpoint";
import type { Page } from "../payment-repository";
import type { NewDelivery } from "./webhook-fan-out-store";
import type { AttemptFailure } from "./webhook-sender";
import type { WebhookPageQuery } from "./webhook-store";

export interface WebhookDeliveryStore {
  find(id: WebhookDeliveryId): Promise<WebhookDelivery | null>;
  /** The newest first. Rejects with `InvalidCursorError`. */
  list(
    endpointId: WebhookEndpointId,
    query: WebhookPageQuery & { readonly status?: DeliveryStatus },
  ): Promise<Page<WebhookDelivery>>;
  /**
   * Drops what was settled before, and what is left of deleted endpoints, at most so many at a time; and has what waits
   * for nothing any more tried at once.
   */
  tend(work: TendingWork): Promise<void>;
}

export interface TendingWork {
  readonly now: Date;
  readonly settledBefore: Date;
  readonly limit: number;
}

export type DeliveryStatus = "pending" | "delivered" | "failed";

export interface WebhookDelivery extends Omit<NewDelivery, "line" | "position"> {
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** Null when it is settled. */
  readonly dueAt: Date | null;
  readonly settledAt: Date | null;
  readonly lastAttempt: LastAttempt | null;
}

export interface LastAttempt {
  readonly at: Date;
  readonly status: number | null;
  readonly failure: AttemptFailure | null;
  /** For operators alone. */
  readonly answer: string;
  readonly tookMs: number;
}
