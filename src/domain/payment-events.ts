import type { OperationKind } from "./operation";

type OperationStep = "started" | "succeeded" | "failed" | "unknown" | "not_sent" | "resent";

export type PaymentEventType =
  | `${OperationKind}.${OperationStep}`
  | "payment.authorized"
  | "payment.expiry_shortened"
  | "payment.declined"
  | "payment.captured"
  | "payment.voided"
  | "payment.expired"
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

/** What a step of a payment is given from outside, because the domain has no clock and no randomness. */
export interface Step {
  readonly now: Date;
  readonly nextId: () => string;
  /** Why and how it came to this step: who asked, the wait for the lock, what the gateway said. Goes into each event. */
  readonly trace: EventData;
}
