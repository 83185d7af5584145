import type { MerchantId } from "../../../domain/identifiers";
import type {
  DisabledReason,
  WebhookDeliveryId,
  WebhookEndpoint,
  WebhookEndpointId,
} from "../../../domain/webhooks/webhook-endpoint";
import type { NewPublicEvent } from "../../public-events/public-event";
import type { Page } from "../payment-repository";
import type { AttemptFailure } from "./webhook-sender";

/**
 * Keeps webhook endpoints, and what is to be delivered to them. Every adapter MUST
 * - begin an endpoint behind what was fanned out when it was made, and behind the position that it is given;
 * - fan out in one transaction: the deliveries and the new position, or nothing; and nothing if the position or any
 *   endpoint has changed since the state was read, so that each event meets each endpoint once;
 * - keep at most one delivery of an event for an endpoint, with the body it was given first;
 * - lend a delivery to one owner at a time, for as long as the lease lasts by the store's own clock;
 * - lend no delivery before one of the same endpoint and line with a lower position that is pending, if the endpoint is
 *   ordered; none of an endpoint that is disabled or deleted; and from no endpoint more than it is told to;
 * - write a settlement in one transaction: the outcome, what it means for the line and for the endpoint, and the event
 *   that tells of a disabling;
 * - reject with `StoreUnavailableError` when it cannot tell or cannot write, with nothing half-written.
 */
export interface WebhookStore {
  /** False where the merchant has `limit` already. Of those that are made at the same instant, a few more may get through. */
  createEndpoint(endpoint: WebhookEndpoint, startsAfter: number, limit: number): Promise<boolean>;
  findEndpoint(id: WebhookEndpointId): Promise<WebhookEndpoint | null>;
  /** Of one merchant, in the order in which they were made. Rejects with `InvalidCursorError`. */
  listEndpoints(merchant: MerchantId, query: WebhookPageQuery): Promise<Page<WebhookEndpoint>>;
  /** Null where it is unknown or deleted, or where its current secret is not `ifSecret`. */
  changeEndpoint(
    id: WebhookEndpointId,
    change: EndpointChange,
    ifSecret?: string,
  ): Promise<WebhookEndpoint | null>;
  /** From then on nobody finds it. Its secrets are gone at once. */
  deleteEndpoint(id: WebhookEndpointId, at: Date): Promise<boolean>;
  countDisabled(): Promise<number>;
  /**
   * Of all secrets that are needed at this time or later, one of those that begin with the same characters, so many: where
   * these tell the key, it shows whether all keys are there.
   */
  secretsByBeginning(now: Date, characters: number): Promise<readonly StoredSecret[]>;

  fanOutState(): Promise<FanOutState>;
  /** Those that are neither disabled nor deleted. */
  listeners(): Promise<readonly Listener[]>;
  fanOut(from: FanOutState, to: number, deliveries: readonly NewDelivery[]): Promise<boolean>;

  /** Adds each, or makes it pending again from its first attempt on, due now. Those that are lent stay as they are. */
  enqueue(deliveries: readonly NewDelivery[]): Promise<void>;
  claim(wish: ClaimWish): Promise<readonly ClaimedDelivery[]>;
  /** Of what this owner has still been lent. */
  renew(owner: string, ids: readonly WebhookDeliveryId[], leaseMs: number): Promise<void>;
  /** What is not delivered after all is there for others at once. */
  giveBack(owner: string, ids: readonly WebhookDeliveryId[]): Promise<void>;
  /** A success counts whoever it was lent to since; anything else only while it is still lent to this owner. */
  settle(settlement: Settlement): Promise<void>;
  /** When the next one falls due that could be delivered then; null if none will. */
  nextDueAt(): Promise<Date | null>;

  findDelivery(id: WebhookDeliveryId): Promise<WebhookDelivery | null>;
  /** The newest first. Rejects with `InvalidCursorError`. */
  listDeliveries(
    endpointId: WebhookEndpointId,
    query: WebhookPageQuery & { readonly status?: DeliveryStatus },
  ): Promise<Page<WebhookDelivery>>;
  /**
   * Drops what was settled before, and what is left of deleted endpoints, at most so many at a time; and has what waits
   * for nothing any more tried at once.
   */
  tend(work: { readonly now: Date; readonly settledBefore: Date; readonly limit: number }): Promise<void>;
  backlog(now: Date): Promise<{ readonly pending: number; readonly oldestDueAt: Date | null }>;
}

export interface WebhookPageQuery {
  readonly limit: number;
  readonly cursor?: string;
}

export type EndpointChange = Partial<
  Pick<WebhookEndpoint, "url" | "types" | "description" | "ordered" | "secrets" | "disabled">
> & { readonly updatedAt: Date };

export interface StoredSecret {
  readonly endpointId: WebhookEndpointId;
  readonly sealed: string;
}

export interface FanOutState {
  /** All events up to here have been given to those who want them. */
  readonly position: number;
  /** Another one whenever endpoints changed. */
  readonly generation: number;
}

export interface Listener {
  readonly id: WebhookEndpointId;
  readonly merchant: MerchantId;
  readonly types: readonly string[] | null;
  /** Events up to here are not for it. */
  readonly startsAfter: number;
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

export interface ClaimWish {
  readonly owner: string;
  readonly leaseMs: number;
  /** What is due by then. */
  readonly now: Date;
  readonly perEndpoint: number;
  readonly limit: number;
}

export interface ClaimedDelivery extends NewDelivery {
  readonly attempts: number;
  readonly endpoint: WebhookEndpoint;
}

export interface Settlement {
  readonly owner: string;
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
