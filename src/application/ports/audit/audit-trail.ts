import type { EventData } from "../../../domain/payment/events";
import type { MerchantId, PaymentId } from "../../../domain/identifiers";
import type { Actor, Origin } from "../../audit/act";
import type { Page } from "../payment-repository";

/** Whatever a person decides or changes by hand. */
export const actKinds = [
  "review.resolved",
  "review.overridden",
  "api_key.created",
  "api_key.revoked",
  "merchant_account.set",
  "merchant_account.key_set",
  "merchant_account.unset",
  "merchant_account.forgotten",
  "lock.breaking",
  "lock.broken",
  "webhook_endpoint.created",
  "webhook_endpoint.changed",
  "webhook_endpoint.enabled",
  "webhook_endpoint.disabled",
  "webhook_endpoint.deleted",
  "webhook_endpoint.secret_rotated",
  "webhook_endpoint.tested",
  "webhook_delivery.redelivered",
  "webhook_endpoint.replayed",
] as const;

export type ActKind = (typeof actKinds)[number];

export interface AuditEntry {
  readonly id: string;
  readonly at: Date;
  readonly kind: ActKind;
  readonly actor: Actor;
  readonly origin: Origin;
  readonly reason: string | null;
  /** What it was done to: an operation, a key, an endpoint, a lock. */
  readonly subject: string;
  readonly merchant: MerchantId | null;
  readonly paymentId: PaymentId | null;
  readonly details: EventData;
}

/**
 * What people did, for those who ask later. The stores whose acts these are take an entry with the act. Every adapter MUST
 * - write entry and act in one transaction: either both are there, or none; and none where the act changed nothing;
 * - never change or drop an entry.
 */
export interface AuditTrail {
  /** Of what is done outside of the store, which cannot share a transaction with it. */
  add(entry: AuditEntry): Promise<void>;
  /** Newest first. Rejects with `InvalidCursorError`. */
  list(query: AuditQuery): Promise<Page<AuditEntry>>;
}

export interface AuditQuery {
  readonly limit: number;
  readonly cursor?: string;
  /** Inclusive. */
  readonly from?: Date;
  /** Exclusive. */
  readonly to?: Date;
  /** The id of a key, or the name of a user. */
  readonly actor?: string;
  readonly kind?: ActKind;
  readonly paymentId?: PaymentId;
}
