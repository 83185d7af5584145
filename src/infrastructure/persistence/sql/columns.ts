import type { OperationBond, OperationProgress } from "../../../domain/payment/operation";
import type { WrittenPaymentRow } from "./payment-rows";
import type { EventRow, OperationRow } from "./tables";

/** What becomes of a payment: written with each save. */
export const paymentChanging = [
  "version",
  "status",
  "visible_status",
  "authorization_reference",
  "action_url",
  "authorized_at",
  "expires_at",
  "updated_at",
  "event_count",
  "disputes",
] as const satisfies readonly (keyof WrittenPaymentRow)[];

/** What it is, from its first row on: every column that does not change. */
const paymentFixed = columns<
  Exclude<keyof WrittenPaymentRow, (typeof paymentChanging)[number]>,
  keyof WrittenPaymentRow
>({
  id: true,
  merchant_id: true,
  authorized: true,
  currency: true,
  currency_exponent: true,
  payment_method: true,
  return_url: true,
  gateway_account: true,
  reference: true,
  metadata: true,
  created_at: true,
});

export const paymentColumns = [...paymentFixed, ...paymentChanging] as const;

/** What an operation is bound to; and what places its row. */
const operationFixed = columns<Column<keyof OperationBond> | "merchant_id" | "position", keyof OperationRow>({
  id: true,
  payment_id: true,
  merchant_id: true,
  position: true,
  kind: true,
  origin: true,
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
  decides_by: true,
  settled_at: true,
  settled_sequence: true,
  corrected_sequence: true,
});

export const operationColumns = [...operationFixed, ...operationChanging] as const;

/** With what is written with the first row alone. */
export const operationWritten = [...operationColumns, "trace_context"] as const;

export const eventColumns = columns<keyof EventRow, keyof EventRow>({
  id: true,
  payment_id: true,
  sequence: true,
  type: true,
  at: true,
  data: true,
});

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
