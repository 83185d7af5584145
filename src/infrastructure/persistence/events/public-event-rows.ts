import type { FeedEvent } from "../../../application/ports/events/event-feed";
import type { NewPublicEvent, PublicEvent } from "../../../application/public-events/public-event";
import type { MerchantId, PaymentId } from "../../../domain/identifiers";
import { toDate, toMs } from "../sql/payment-rows";
import type { PublicEventRow } from "../sql/tables";

export const publicEventColumns = [
  "id",
  "payment_id",
  "merchant_id",
  "type",
  "at",
  "sequence",
  "content",
] as const satisfies readonly (keyof PublicEventRow)[];

/** With the trace in which it was told. */
export const publicEventWritten = [...publicEventColumns, "trace_context"] as const;

/** What is written of one. Its position comes later, or by itself. */
export type WrittenPublicEventRow = Omit<PublicEventRow, "position"> & Traced;

export interface Traced {
  readonly trace_context: string | null;
}

/** `sequence` counts within this save: 1, 2, …; the statement that writes it adds what the payment has already. */
export function publicEventRows(
  events: readonly NewPublicEvent[],
  trace_context: string | null = null,
): readonly WrittenPublicEventRow[] {
  return events.map((event, index) => ({
    id: event.id,
    payment_id: event.paymentId,
    merchant_id: event.merchant,
    type: event.type,
    at: toMs(event.at),
    sequence: BigInt(index + 1),
    content: JSON.stringify(event.content),
    trace_context,
  }));
}

export function toFeedEvent(row: PublicEventRow): FeedEvent {
  return {
    position: Number(row.position),
    id: row.id,
    type: row.type as PublicEvent["type"],
    at: toDate(row.at),
    merchant: row.merchant_id as MerchantId,
    paymentId: row.payment_id as PaymentId | null,
    sequence: row.sequence === null ? null : Number(row.sequence),
    content: JSON.parse(row.content) as PublicEvent["content"],
  };
}
