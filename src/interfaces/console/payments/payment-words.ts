import type { Operation, OperationStatus } from "../../../domain/payment/operation";
import { isInReview } from "../../../domain/payment/operation";
import { visibleStatus, type Payment, type VisibleStatus } from "../../../domain/payment/payment";
import type { Tone } from "../html/parts";

const paymentTones = {
  authorizing: "wait",
  requires_action: "wait",
  authorized: "plain",
  capturing: "wait",
  captured: "good",
  voiding: "wait",
  voided: "plain",
  refunding: "wait",
  expired: "plain",
  declined: "bad",
} as const satisfies Record<VisibleStatus, Tone>;

/** Those that a list can be filtered by. */
export const statuses = Object.keys(paymentTones) as readonly VisibleStatus[];

export function paymentTone(payment: Payment): Tone {
  return payment.facts.operations.some(isInReview) ? "bad" : paymentTones[visibleStatus(payment)];
}

const operationTones = {
  started: "wait",
  unknown: "wait",
  pending: "wait",
  requires_action: "wait",
  needs_review: "bad",
  succeeded: "good",
  failed: "bad",
  not_sent: "plain",
} as const satisfies Record<OperationStatus, Tone>;

export function operationTone(operation: Operation): Tone {
  return isInReview(operation) ? "bad" : operationTones[operation.status];
}

export function operationStatus(operation: Operation): string {
  return isInReview(operation) ? "in review" : operation.status.replace("_", " ");
}
