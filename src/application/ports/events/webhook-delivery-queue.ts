import type {
  DisabledReason,
  WebhookDeliveryId,
  WebhookEndpoint,
  WebhookEndpointId,
} from "../../../domain/webhooks/webhook-endpoint";
import type { NewPublicEvent } from "../../public-events/public-event";
import type { AuditEntry } from "../audit/audit-trail";
import type { LastAttempt } from "./webhook-delivery-store";
import type { NewDelivery } from "./webhook-fan-out-store";

/**
 * Every adapter MUST
 * - lend a delivery to one owner at a time, for as long as the lease lasts by the store's own clock, and free at once what
 *   was lent to an owner that cannot be there any more, if the store can know;
 * - lend no delivery before one of the same endpoint and line with a lower position that is pending, if the endpoint is
 *   ordered; none of an endpoint that is disabled or deleted; and of no endpoint more than it is told to;
 * - write settlements in one transaction each or together: the outcome, what it means for the line and for the endpoint, and
 *   the event that tells of a disabling.
 */
export interface WebhookDeliveryQueue {
  /**
   * Adds each, or makes it pending again from its first attempt on, due now. Those that are lent stay as they are, and where
   * all of them are, the entry is not written either.
   */
  enqueue(deliveries: readonly NewDelivery[], entry?: AuditEntry): Promise<void>;
  claim(wish: ClaimWish): Promise<readonly ClaimedDelivery[]>;
  /** Of what this owner has still been lent. */
  renew(owner: string, ids: readonly WebhookDeliveryId[], leaseMs: number): Promise<void>;
  /** What is not delivered after all is there for others at once. */
  giveBack(owner: string, ids: readonly WebhookDeliveryId[]): Promise<void>;
  /** A success counts whoever it was lent to since; anything else only while it is still lent to this owner. */
  settle(owner: string, settlements: readonly Settlement[]): Promise<void>;
  /** When the next one falls due that could be delivered then; null if none will. */
  nextDueAt(): Promise<Date | null>;
  backlog(now: Date): Promise<{ readonly pending: number; readonly oldestDueAt: Date | null }>;
}

export interface ClaimWish {
  readonly owner: string;
  readonly leaseMs: number;
  /** What is due by then. */
  readonly now: Date;
  /** Of an endpoint, what all owners together have afterwards, at most. */
  readonly perEndpoint: number;
  /** The same where no other owner has any. */
  readonly alone: number;
  readonly limit: number;
}

export interface ClaimedDelivery extends NewDelivery {
  readonly attempts: number;
  readonly endpoint: WebhookEndpoint;
}

export interface Settlement {
  readonly deliveryId: WebhookDeliveryId;
  readonly endpointId: WebhookEndpointId;
  readonly line: string;
  readonly attempt: LastAttempt;
  /** When it is tried again, or how it has ended. */
  readonly next: Date | "delivered" | "failed";
  /** Set where this is the end of the endpoint. */
  readonly disable: Disabling | null;
}

export interface Disabling {
  readonly reason: DisabledReason;
  /** Set where it ends because it failed for so long: something may have been delivered meanwhile. */
  readonly ifFailingSince: Date | null;
  readonly event: NewPublicEvent;
}
