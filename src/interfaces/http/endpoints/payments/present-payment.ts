import type { z } from "zod";
import { isInReview, type Operation, type OperationKind } from "../../../../domain/operation";
import type { Payment } from "../../../../domain/payment";
import type { PaymentEvent } from "../../../../domain/payment-events";
import type { operationAnswer, paymentAnswer, paymentEventAnswer } from "./payment-answers";

export function presentPayment(payment: Payment): z.output<typeof paymentAnswer> {
  const { facts } = payment;
  return {
    id: facts.id,
    merchant: facts.merchant,
    status: payment.visibleStatus,
    amount: Number(facts.amount.amount),
    currency: facts.amount.currency,
    currencyExponent: facts.amount.exponent,
    amountCapturable: Number(payment.amountCapturable),
    amountCaptured: Number(payment.amountCaptured),
    amountRefunded: Number(payment.amountRefunded),
    reference: facts.reference,
    metadata: facts.metadata,
    authorizedAt: facts.authorizedAt?.toISOString() ?? null,
    expiresAt: facts.expiresAt.toISOString(),
    createdAt: facts.createdAt.toISOString(),
    updatedAt: facts.updatedAt.toISOString(),
    captures: presentOperations(facts.operations, "capture"),
    refunds: presentOperations(facts.operations, "refund"),
  };
}

export function presentOperation(operation: Operation): z.output<typeof operationAnswer> {
  return {
    id: operation.id,
    // Callers need not know how far an open operation has come: nobody can say yet what becomes of it.
    status: operation.status === "succeeded" || operation.status === "failed" ? operation.status : "unknown",
    amount: Number(operation.amount),
    failureCode: operation.failureCode,
    needsReview: isInReview(operation),
    createdAt: operation.createdAt.toISOString(),
    settledAt: operation.settledAt?.toISOString() ?? null,
  };
}

/** With everything that is known: for operators. */
export function presentEvent({ id, type, at, data }: PaymentEvent): z.output<typeof paymentEventAnswer> {
  return { id, type, at: at.toISOString(), data };
}

/** All of these of a review are the merchant's to know; evidence and reasons are what operators tell each other. */
const TOLD_OF_REVIEWS = ["lock", "operationId", "kind", "outcome", "resolvedBy"] as const;

/** Without what an operator wrote, and without whose key it was: for the payment's merchant. */
export function presentEventToMerchant(event: PaymentEvent): z.output<typeof paymentEventAnswer> {
  const { type, data } = event;
  const isReview = type.startsWith("review.");
  const by = data["by"] as { readonly operator?: boolean; readonly apiKey?: unknown } | undefined;
  const isOperators = by?.operator === true || (isReview && by?.apiKey !== undefined);
  const told = isReview
    ? Object.fromEntries(TOLD_OF_REVIEWS.flatMap((name) => (name in data ? [[name, data[name]]] : [])))
    : data;
  const shownBy = by === undefined ? {} : { by: isOperators ? { operator: true } : by };
  return presentEvent({ ...event, data: { ...told, ...shownBy } });
}

/** What was never sent never happened. */
function presentOperations(operations: readonly Operation[], kind: OperationKind) {
  return operations
    .filter((operation) => operation.kind === kind && operation.status !== "not_sent")
    .map(presentOperation);
}
