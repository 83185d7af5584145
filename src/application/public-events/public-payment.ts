import { endOf } from "../../domain/payment/expiry";
import {
  isInReview,
  type Operation,
  type OperationKind,
  type OperationOrigin,
  type OperationStatus,
} from "../../domain/payment/operation";
import type { DisputeStatus, SeenDispute } from "../../domain/payment/picture/gateway-picture";
import { labelsOf, type PaymentLabels } from "../../domain/labels";
import {
  amountCapturable,
  amountCaptured,
  amountRefunded,
  visibleStatus,
  type Payment,
  type VisibleStatus,
} from "../../domain/payment/payment";

/** A payment as everyone outside is shown it: over HTTP now, and in an event as it was then. JSON. */
export interface PublicPayment extends PaymentLabels {
  id: string;
  merchant: string;
  status: VisibleStatus;
  /** Minor units, as all amounts here. */
  amount: number;
  currency: string;
  currencyExponent: number | null;
  amountCapturable: number;
  amountCaptured: number;
  amountRefunded: number;
  /** ISO 8601, as all times here. */
  authorizedAt: string | null;
  expiresAt: string;
  createdAt: string;
  updatedAt: string;
  captures: PublicOperation[];
  refunds: PublicOperation[];
  disputes: PublicDispute[];
}

/** The customer has gone to their bank. What the gateway withdraws or pays back for it is in no total here. */
export interface PublicDispute {
  id: string;
  status: DisputeStatus;
  amount: number;
  reason: string;
  dueBy: string | null;
}

export interface PublicOperation {
  id: string;
  /** `gateway`: made there, and not by a request to this service. */
  origin: OperationOrigin;
  status: "succeeded" | "failed" | "pending" | "requires_action" | "unknown";
  amount: number;
  failureCode: string | null;
  needsReview: boolean;
  createdAt: string;
  settledAt: string | null;
}

export function publicPayment(payment: Payment): PublicPayment {
  const { facts } = payment;
  return {
    id: facts.id,
    merchant: facts.merchant,
    status: visibleStatus(payment),
    amount: Number(facts.amount.amount),
    currency: facts.amount.currency,
    currencyExponent: facts.amount.exponent,
    amountCapturable: Number(amountCapturable(payment)),
    amountCaptured: Number(amountCaptured(payment)),
    amountRefunded: Number(amountRefunded(payment)),
    ...labelsOf(facts),
    authorizedAt: facts.authorizedAt?.toISOString() ?? null,
    expiresAt: endOf(payment).toISOString(),
    createdAt: facts.createdAt.toISOString(),
    updatedAt: facts.updatedAt.toISOString(),
    captures: operationsOf(facts.operations, "capture"),
    refunds: operationsOf(facts.operations, "refund"),
    disputes: facts.disputes.map(publicDispute),
  };
}

export function publicOperation(operation: Operation): PublicOperation {
  return {
    id: operation.id,
    origin: operation.origin,
    status: publicStatus(operation.status),
    amount: Number(operation.amount),
    failureCode: operation.failureCode,
    needsReview: isInReview(operation),
    createdAt: operation.createdAt.toISOString(),
    settledAt: operation.settledAt?.toISOString() ?? null,
  };
}

/** Callers need not know how far an open operation has come, but for what the gateway or the customer is waited for. */
function publicStatus(status: OperationStatus): PublicOperation["status"] {
  switch (status) {
    case "succeeded":
    case "failed":
    case "pending":
    case "requires_action":
      return status;
    default:
      return "unknown";
  }
}

export function publicDispute({ id, status, amount, reason, dueBy }: SeenDispute): PublicDispute {
  return { id, status, amount: Number(amount), reason, dueBy: dueBy?.toISOString() ?? null };
}

/** What was never sent never happened. */
function operationsOf(operations: readonly Operation[], kind: OperationKind): PublicOperation[] {
  return operations
    .filter((operation) => operation.kind === kind && operation.status !== "not_sent")
    .map(publicOperation);
}
