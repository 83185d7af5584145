import type { MerchantId, PaymentId } from "../../domain/identifiers";
import type { OperationKind } from "../../domain/payment/operation";
import type { PublicDispute, PublicOperation, PublicPayment } from "./public-payment";

/** Everything that callers can be told of, unasked. A type once published keeps its name and its meaning. */
export const publicEventTypes = [
  "payment.requires_action",
  "payment.authorized",
  "payment.declined",
  "payment.captured",
  "payment.voided",
  "payment.expired",
  "payment.refunded",
  "capture.failed",
  "void.failed",
  "refund.failed",
  "operation.pending",
  "operation.unknown",
  "operation.needs_review",
  "operation.resolved",
  "dispute.opened",
  "dispute.updated",
  "dispute.closed",
  "webhook_endpoint.disabled",
] as const;

export type PublicEventType = (typeof publicEventTypes)[number];

/** What happened, for everyone it concerns. Written with the change it tells of, and never changed. */
export interface PublicEvent {
  /** UUIDv7. That of the line in the payment's own history; whoever is told twice knows it by this. */
  readonly id: string;
  readonly type: PublicEventType;
  readonly at: Date;
  readonly merchant: MerchantId;
  /** Null for what is no payment's. */
  readonly paymentId: PaymentId | null;
  /** 1, 2, 3, … within the payment, in the order in which it happened; null for what is no payment's. */
  readonly sequence: number | null;
  readonly content: PublicEventContent;
}

/** JSON, kept as it was then. */
export type PublicEventContent = PaymentEventContent | Readonly<Record<string, unknown>>;

export interface PaymentEventContent {
  /** After the step that the event tells of. */
  readonly payment: PublicPayment;
  /** The movement that it is about, if it is about one. */
  readonly operation: (PublicOperation & { readonly kind: OperationKind }) | null;
  /** Of an event about one. */
  readonly dispute?: PublicDispute;
}

/** An event before the store has counted it. */
export type NewPublicEvent = Omit<PublicEvent, "sequence">;

/** As it is sent and shown, everywhere. */
export interface PublicEventWire {
  id: string;
  type: PublicEventType;
  timestamp: string;
  data: Record<string, unknown>;
}

export function publicEventWire({ id, type, at, sequence, content }: PublicEvent): PublicEventWire {
  const data = sequence === null ? { ...content } : { ...content, sequence };
  return { id, type, timestamp: at.toISOString(), data };
}
