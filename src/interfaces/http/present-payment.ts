import type { z } from "zod";
import { isInReview, type Operation, type OperationKind } from "../../domain/operation";
import type { Payment } from "../../domain/payment";
import type { PaymentEvent } from "../../domain/payment-events";
import type { operationAnswer, paymentAnswer, paymentEventAnswer } from "./payment-answers";

export function presentPayment(payment: Payment): z.output<typeof paymentAnswer> {
  const { facts } = payment;
  return {
    id: facts.id,
    merchant: facts.merchant,
    status: payment.visibleStatus,
    amount: Number(facts.amount.amount),
    currency: facts.amount.currency,
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

export function presentEvent({ id, type, at, data }: PaymentEvent): z.output<typeof paymentEventAnswer> {
  return { id, type, at: at.toISOString(), data };
}

/** What was never sent never happened. */
function presentOperations(operations: readonly Operation[], kind: OperationKind) {
  return operations
    .filter((operation) => operation.kind === kind && operation.status !== "not_sent")
    .map(presentOperation);
}
