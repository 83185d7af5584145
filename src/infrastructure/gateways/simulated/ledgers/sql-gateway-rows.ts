import { z } from "zod";

import type { Currency } from "../../../../domain/money";
import type { OperationKind } from "../../../../domain/payment/operation";
import type {
  GatewayMove,
  LedgerAmount,
  LedgerAnswer,
  LedgerAuthorization,
  LedgerCustomerPage,
  LedgerEntry,
  LedgerState,
} from "./gateway-ledger";
import { customerPageSchema, recordedAnswerSchema } from "./gateway-snapshot";

const authorizationStatus = z.enum(["awaiting_customer", "open", "captured", "voided", "gone"]);

export type SqlValue = string | bigint | number | null;
export type Row = Readonly<Record<string, SqlValue>>;

export function toEntry(row: Row): LedgerEntry {
  return {
    gatewayKey: text(row, "gateway_key"),
    operationId: text(row, "operation_id"),
    paymentId: text(row, "payment_id"),
    kind: text(row, "kind") as OperationKind,
    amount: toAmount(row),
    authorizationReference: textOrNull(row, "authorization_reference"),
    paymentMethod: textOrNull(row, "payment_method"),
    customerPage: row["customer_page"] === null ? null : customerPageIn(row),
    state: toState(row),
  };
}

function toState(row: Row): LedgerState {
  const is = text(row, "state") as LedgerState["is"];
  switch (is) {
    case "lost":
    case "awaiting_customer":
    case "broken":
      return { is };
    case "in_flight":
    case "deciding":
    case "refusing":
      return { is, dueAt: instant(row, "due_at") };
    case "recorded":
      return { is, answer: answerIn(row) };
    case "failing":
      return { is, answer: answerIn(row), dueAt: instant(row, "due_at") };
  }
}

function answerIn(row: Row): LedgerAnswer {
  return recordedAnswerSchema.parse(JSON.parse(text(row, "answer")));
}

function customerPageIn(row: Row): LedgerCustomerPage {
  return customerPageSchema.parse(JSON.parse(text(row, "customer_page")));
}

export function toAuthorization(row: Row): LedgerAuthorization {
  return {
    reference: text(row, "reference"),
    paymentId: textOrNull(row, "payment_id"),
    amount: toAmount(row),
    paymentMethod: text(row, "payment_method"),
    status: authorizationStatus.parse(row["status"]),
    reserved: integer(row, "reserved"),
    captured: integer(row, "captured"),
    refunded: integer(row, "refunded"),
  };
}

export function toMove(row: Row): GatewayMove {
  return {
    paymentId: text(row, "payment_id"),
    kind: text(row, "kind") as OperationKind,
    gatewayKey: text(row, "gateway_key"),
    amount: toAmount(row),
    at: instant(row, "at"),
  };
}

function toAmount(row: Row): LedgerAmount {
  return { amount: integer(row, "amount"), currency: text(row, "currency") as Currency };
}

export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw new Error(`${column} holds no text`);
  return value;
}

function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

/** The columns of a new row, in the order in which the values are. */
export function entryRow(entry: LedgerEntry) {
  const { state } = entry;
  return {
    gateway_key: entry.gatewayKey,
    operation_id: entry.operationId,
    payment_id: entry.paymentId,
    kind: entry.kind,
    amount: entry.amount.amount,
    currency: entry.amount.currency,
    authorization_reference: entry.authorizationReference,
    payment_method: entry.paymentMethod,
    customer_page: entry.customerPage === null ? null : JSON.stringify(entry.customerPage),
    state: state.is,
    answer: "answer" in state ? JSON.stringify(state.answer) : null,
    due_at: "dueAt" in state ? BigInt(state.dueAt.getTime()) : null,
  } satisfies Row;
}

export function authorizationRow(authorization: LedgerAuthorization) {
  return {
    reference: authorization.reference,
    payment_id: authorization.paymentId,
    amount: authorization.amount.amount,
    currency: authorization.amount.currency,
    payment_method: authorization.paymentMethod,
    status: authorization.status,
    reserved: authorization.reserved,
    captured: authorization.captured,
    refunded: authorization.refunded,
  } satisfies Row;
}

export function moveRow(move: GatewayMove) {
  return {
    payment_id: move.paymentId,
    kind: move.kind,
    gateway_key: move.gatewayKey,
    amount: move.amount.amount,
    currency: move.amount.currency,
    at: BigInt(move.at.getTime()),
  } satisfies Row;
}

export function integer(row: Row, column: string): bigint {
  const value = row[column];
  // As JSON has it.
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value !== "bigint") throw new Error(`${column} holds no integer`);
  return value;
}

function instant(row: Row, column: string): Date {
  return new Date(Number(integer(row, column)));
}
