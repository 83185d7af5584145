import { endMetBy } from "../../domain/payment/expiry";
import type { OperationId } from "../../domain/identifiers";
import { beforeCorrection, type Operation } from "../../domain/payment/operation";
import { asItWasAfter, operationOf, type Payment } from "../../domain/payment/payment";
import { PaymentError } from "../../domain/payment/errors";

/** What a caller of a movement gets, unless it is an error. */
export interface OperationOutcome {
  /** As it was when the operation ended, so that a repeated request gets the first answer; else as it is now. */
  readonly payment: Payment;
  /** `succeeded`, or still open: then its outcome is not known yet. */
  readonly operation: Operation;
  /** The answer was stored before this request came. */
  readonly replayed: boolean;
}

/** The answer that an operation, as it is stored, amounts to. The same row always gives the same answer. */
export function outcomeOf(payment: Payment, operationId: OperationId, replayed: boolean): OperationOutcome {
  const operation = operationOf(payment, operationId);
  if (operation === undefined) throw new Error(`payment ${payment.facts.id} has no operation ${operationId}`);
  switch (operation.status) {
    case "failed":
      // The gateway took it back later: its key goes on giving the first answer.
      if (operation.correctedSequence !== null) {
        const first = beforeCorrection(operation);
        return { payment: asItWasAfter(payment, first), operation: first, replayed };
      }
      throw failureOf(payment, operation, replayed);
    case "not_sent":
      throw new PaymentError("gateway_unavailable", {
        paymentId: payment.facts.id,
        reason: "the request did not reach it",
      });
    case "succeeded":
      return { payment: asItWasAfter(payment, operation), operation, replayed };
    case "started":
    case "unknown":
    case "pending":
    case "requires_action":
    case "needs_review":
      return { payment, operation, replayed };
  }
}

function failureOf(payment: Payment, operation: Operation, replayed: boolean): PaymentError {
  const code = operation.failureCode;
  if (code === null) throw new Error(`operation ${operation.id} failed without a code`);
  if (code === "payment_expired") {
    const expiresAt = endMetBy(payment, operation);
    return new PaymentError(code, { paymentId: payment.facts.id, expiresAt }, replayed);
  }
  const reason = operation.failureReason ?? "no reason given";
  return new PaymentError(code, { paymentId: payment.facts.id, reason }, replayed);
}
