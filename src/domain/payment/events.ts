import type { OperationKind } from "./operation";

type OperationStep = "started" | "succeeded" | "failed" | "unknown" | "pending" | "not_sent" | "resent";

export type PaymentEventType =
  | `${OperationKind}.${OperationStep}`
  | "authorize.requires_action"
  | "payment.authorized"
  | "payment.expiry_shortened"
  | "payment.declined"
  | "payment.captured"
  | "payment.voided"
  | "payment.expired"
  | "dispute.opened"
  | "dispute.updated"
  | "dispute.closed"
  | "operation.needs_review"
  | "operation.evidence_conflict"
  | "review.resolved"
  | "review.pending";

/** JSON, so that it can be stored and shown as it is. */
export type EventData = Readonly<Record<string, unknown>>;

/** One line of a payment's history. Appended, never changed. */
export interface PaymentEvent {
  readonly id: string;
  /** 1, 2, 3, … within the payment. */
  readonly sequence: number;
  readonly type: PaymentEventType;
  readonly at: Date;
  readonly data: EventData;
}

/** The reason of a review that a contradiction has opened. Which two, the event of the contradiction tells. */
export const TWO_ANSWERS = "two answers for the same key contradict each other";
