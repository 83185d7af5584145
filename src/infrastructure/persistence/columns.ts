import type { WrittenPaymentRow } from "./payment-rows";
import type { EventRow, OperationRow } from "./tables";

/** What a payment is, from its first row on. */
const paymentFixed = [
  "id",
  "merchant_id",
  "authorized",
  "currency",
  "payment_method",
  "reference",
  "metadata",
  "created_at",
] as const satisfies readonly (keyof WrittenPaymentRow)[];

/** What becomes of it: written with each save. */
export const paymentChanging = [
  "version",
  "status",
  "visible_status",
  "authorization_reference",
  "authorized_at",
  "expires_at",
  "updated_at",
  "event_count",
] as const satisfies readonly (keyof WrittenPaymentRow)[];

export const paymentColumns = [...paymentFixed, ...paymentChanging] as const;

const operationFixed = [
  "id",
  "payment_id",
  "merchant_id",
  "position",
  "kind",
  "idempotency_key",
  "fingerprint",
  "amount",
  "created_at",
] as const satisfies readonly (keyof OperationRow)[];

export const operationChanging = [
  "n",
  "status",
  "failure_code",
  "failure_reason",
  "gateway_reference",
  "attempts",
  "conflicted",
  "first_sent_at",
  "asked_at",
  "due_at",
  "settled_at",
] as const satisfies readonly (keyof OperationRow)[];

export const operationColumns = [...operationFixed, ...operationChanging] as const;

export const eventColumns = [
  "id",
  "payment_id",
  "sequence",
  "type",
  "at",
  "data",
] as const satisfies readonly (keyof EventRow)[];
