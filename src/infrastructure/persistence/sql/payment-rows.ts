import { restored } from "../../../domain/payment/restored";
import type { IdempotencyKey, MerchantId, OperationId, PaymentId } from "../../../domain/identifiers";
import type { Currency } from "../../../domain/money";
import type { Operation } from "../../../domain/payment/operation";
import type { SeenDispute } from "../../../domain/payment/picture/gateway-picture";
import type { Payment } from "../../../domain/payment/payment";
import { visibleStatus } from "../../../domain/payment/payment";
import type { PaymentEvent } from "../../../domain/payment/events";
import type { PaymentStatus } from "../../../domain/payment/transitions";
import type { EventRow, OperationRow, PaymentRow } from "./tables";

// What was valid when it was written is not parsed again: brands are restored by assertion, here and nowhere else.

/** One row for each operation of a payment, with the payment's own columns beside it. */
export type JoinedRow = WrittenPaymentRow & {
  readonly [Column in keyof OperationRow as `o_${Column}`]: OperationRow[Column];
};

/** Rows of one payment are in the order in which its operations began. */
export function toPayments(rows: readonly JoinedRow[]): readonly Payment[] {
  const grouped = new Map<
    string,
    { readonly payment: WrittenPaymentRow; readonly operations: Operation[] }
  >();
  for (const row of rows) {
    const known = grouped.get(row.id) ?? { payment: row, operations: [] };
    grouped.set(row.id, known);
    known.operations.push(toOperation(row));
  }
  return [...grouped.values()].map(({ payment, operations }) => toPayment(payment, operations));
}

function toPayment(row: WrittenPaymentRow, operations: readonly Operation[]): Payment {
  return restored({
    id: row.id as PaymentId,
    merchant: row.merchant_id as MerchantId,
    status: row.status as PaymentStatus,
    amount: {
      amount: row.authorized,
      currency: row.currency as Currency,
      exponent: row.currency_exponent === null ? null : Number(row.currency_exponent),
    },
    paymentMethod: row.payment_method,
    returnUrl: row.return_url,
    reference: row.reference,
    metadata: JSON.parse(row.metadata) as Record<string, string>,
    gatewayAccount: row.gateway_account,
    authorizationReference: row.authorization_reference,
    actionUrl: row.action_url,
    createdAt: toDate(row.created_at),
    authorizedAt: toDateOrNull(row.authorized_at),
    expiresAt: toDate(row.expires_at),
    updatedAt: toDate(row.updated_at),
    operations,
    disputes: toDisputes(row.disputes),
    eventCount: Number(row.event_count),
  });
}

function toOperation(row: JoinedRow): Operation {
  return {
    id: row.o_id as OperationId,
    paymentId: row.id as PaymentId,
    kind: row.o_kind as Operation["kind"],
    origin: row.o_origin as Operation["origin"],
    idempotencyKey: row.o_idempotency_key as IdempotencyKey | null,
    fingerprint: row.o_fingerprint,
    amount: row.o_amount,
    n: Number(row.o_n),
    status: row.o_status as Operation["status"],
    failureCode: row.o_failure_code as Operation["failureCode"],
    failureReason: row.o_failure_reason,
    gatewayReference: row.o_gateway_reference,
    attempts: Number(row.o_attempts),
    conflicted: row.o_conflicted === 1n,
    createdAt: toDate(row.o_created_at),
    firstSentAt: toDateOrNull(row.o_first_sent_at),
    askedAt: toDateOrNull(row.o_asked_at),
    dueAt: toDateOrNull(row.o_due_at),
    decidesBy: toDateOrNull(row.o_decides_by),
    settledAt: toDateOrNull(row.o_settled_at),
    settledSequence: toNumberOrNull(row.o_settled_sequence),
    correctedSequence: toNumberOrNull(row.o_corrected_sequence),
  };
}

/** Without the totals: the schema keeps those. */
export type WrittenPaymentRow = Omit<PaymentRow, "captured" | "refunded">;

export function paymentRow(payment: Payment, version: number): WrittenPaymentRow {
  const { facts } = payment;
  return {
    id: facts.id,
    merchant_id: facts.merchant,
    version: BigInt(version),
    status: facts.status,
    visible_status: visibleStatus(payment),
    authorized: facts.amount.amount,
    currency: facts.amount.currency,
    currency_exponent: facts.amount.exponent === null ? null : BigInt(facts.amount.exponent),
    payment_method: facts.paymentMethod,
    return_url: facts.returnUrl,
    reference: facts.reference,
    metadata: JSON.stringify(facts.metadata),
    gateway_account: facts.gatewayAccount,
    authorization_reference: facts.authorizationReference,
    action_url: facts.actionUrl,
    created_at: toMs(facts.createdAt),
    authorized_at: toMsOrNull(facts.authorizedAt),
    expires_at: toMs(facts.expiresAt),
    updated_at: toMs(facts.updatedAt),
    event_count: BigInt(facts.eventCount),
    disputes: disputesText(facts.disputes),
  };
}

export function operationRow(operation: Operation, merchant: MerchantId, position: number): OperationRow {
  return {
    id: operation.id,
    payment_id: operation.paymentId,
    merchant_id: merchant,
    position: BigInt(position),
    kind: operation.kind,
    origin: operation.origin,
    idempotency_key: operation.idempotencyKey,
    fingerprint: operation.fingerprint,
    amount: operation.amount,
    n: BigInt(operation.n),
    status: operation.status,
    failure_code: operation.failureCode,
    failure_reason: operation.failureReason,
    gateway_reference: operation.gatewayReference,
    attempts: BigInt(operation.attempts),
    conflicted: operation.conflicted ? 1n : 0n,
    created_at: toMs(operation.createdAt),
    first_sent_at: toMsOrNull(operation.firstSentAt),
    asked_at: toMsOrNull(operation.askedAt),
    due_at: toMsOrNull(operation.dueAt),
    decides_by: toMsOrNull(operation.decidesBy),
    settled_at: toMsOrNull(operation.settledAt),
    settled_sequence: toBigintOrNull(operation.settledSequence),
    corrected_sequence: toBigintOrNull(operation.correctedSequence),
  };
}

type DisputeText = Omit<SeenDispute, "amount" | "dueBy"> & {
  readonly amount: string;
  readonly dueBy: string | null;
};

function toDisputes(text: string): readonly SeenDispute[] {
  return (JSON.parse(text) as readonly DisputeText[]).map((dispute) => ({
    ...dispute,
    amount: BigInt(dispute.amount),
    dueBy: dispute.dueBy === null ? null : new Date(dispute.dueBy),
  }));
}

function disputesText(disputes: readonly SeenDispute[]): string {
  const kept = disputes.map(({ id, status, amount, reason, dueBy }): DisputeText => ({
    id,
    status,
    amount: amount.toString(),
    reason,
    dueBy: dueBy?.toISOString() ?? null,
  }));
  return JSON.stringify(kept);
}

export function eventRow(event: PaymentEvent, paymentId: PaymentId): EventRow {
  return {
    id: event.id,
    payment_id: paymentId,
    sequence: BigInt(event.sequence),
    type: event.type,
    at: toMs(event.at),
    data: JSON.stringify(event.data),
  };
}

export function toEvent(row: EventRow): PaymentEvent {
  return {
    id: row.id,
    sequence: Number(row.sequence),
    type: row.type as PaymentEvent["type"],
    at: toDate(row.at),
    data: JSON.parse(row.data) as PaymentEvent["data"],
  };
}

export function toMs(date: Date): bigint {
  return BigInt(date.getTime());
}

export function toDate(ms: bigint): Date {
  return new Date(Number(ms));
}

export function toDateOrNull(ms: bigint | null): Date | null {
  return ms === null ? null : toDate(ms);
}

export function toMsOrNull(date: Date | null): bigint | null {
  return date === null ? null : toMs(date);
}

function toNumberOrNull(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}

function toBigintOrNull(value: number | null): bigint | null {
  return value === null ? null : BigInt(value);
}
