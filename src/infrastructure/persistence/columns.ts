import type { OperationBond, OperationProgress } from "../../domain/operation";
import type { WrittenPaymentRow } from "./payment-rows";
import type { EventRow, OperationRow } from "./tables";

/** What a payment is, from its first row on. */
const paymentFixed = [
  "id",
  "merchant_id",
  "authorized",
  "currency",
  "currency_exponent",
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

/** What an operation is bound to; and what places its row. */
const operationFixed = columns<Column<keyof OperationBond> | "merchant_id" | "position", keyof OperationRow>({
  id: true,
  payment_id: true,
  merchant_id: true,
  position: true,
  kind: true,
  idempotency_key: true,
  fingerprint: true,
  amount: true,
  created_at: true,
});

/** Whatever a step of the domain may change is written whenever it changed: the compiler knows of both. */
export const operationChanging = columns<Column<keyof OperationProgress>, keyof OperationRow>({
  n: true,
  status: true,
  failure_code: true,
  failure_reason: true,
  gateway_reference: true,
  attempts: true,
  conflicted: true,
  first_sent_at: true,
  asked_at: true,
  due_at: true,
  settled_at: true,
  settled_sequence: true,
  corrected_sequence: true,
});

export const operationColumns = [...operationFixed, ...operationChanging] as const;

export const eventColumns = [
  "id",
  "payment_id",
  "sequence",
  "type",
  "at",
  "data",
] as const satisfies readonly (keyof EventRow)[];

/** The name that a field has as a column. */
type Column<Field extends string> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Column<Rest>}`
  : "";

/** All of these columns and no others: one that is missing, or is none of the table's, does not compile. */
function columns<Wanted extends Known, Known extends string>(
  names: Readonly<Record<Wanted, true>>,
): readonly Wanted[] {
  return Object.keys(names) as Wanted[];
}
