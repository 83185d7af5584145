import { isRelease, type Operation } from "../../domain/payment/operation";
import type { Payment } from "../../domain/payment/payment";
import type { PaymentEvent, PaymentEventType } from "../../domain/payment/events";
import type { PublicEventType } from "./public-event";

/** What one line of a payment's history is to those outside. */
export interface Publication {
  readonly type: PublicEventType;
  /** The movement that is meant. */
  readonly operation: (payment: Payment, event: PaymentEvent) => Operation | undefined;
  /** Default: each time. */
  readonly when?: (operation: Operation | undefined, event: PaymentEvent) => boolean;
}

/** Stays in the payment's own history. */
const INNER = null;

const pending: Publication = { type: "operation.pending", operation: named, when: isFirstNews };
const unknown: Publication = { type: "operation.unknown", operation: named, when: isFirstNews };

/**
 * Every line that a history can have, so that a new one does not compile before it is decided whether it is told. Each
 * movement ends in one of these; a release, which no caller asked for, is told of only where a person has to look.
 */
export const publications: Readonly<Record<PaymentEventType, Publication | typeof INNER>> = {
  "authorize.requires_action": { type: "payment.requires_action", operation: theAuthorization },
  "payment.authorized": { type: "payment.authorized", operation: succeeded("authorize") },
  "payment.declined": { type: "payment.declined", operation: theAuthorization },
  "payment.captured": { type: "payment.captured", operation: succeeded("capture") },
  "payment.voided": { type: "payment.voided", operation: succeeded("void") },
  "payment.expired": { type: "payment.expired", operation: () => undefined },
  "refund.succeeded": { type: "payment.refunded", operation: named },
  "capture.failed": { type: "capture.failed", operation: named },
  "void.failed": { type: "void.failed", operation: named, when: isNoRelease },
  "refund.failed": { type: "refund.failed", operation: named },
  "authorize.pending": pending,
  "capture.pending": pending,
  "void.pending": pending,
  "refund.pending": pending,
  "authorize.unknown": unknown,
  "capture.unknown": unknown,
  "void.unknown": unknown,
  "refund.unknown": unknown,
  "operation.needs_review": {
    type: "operation.needs_review",
    operation: named,
    when: (_operation, event) => isNews(event),
  },
  // One that cannot be opened for review yet waits for a person all the same.
  "operation.evidence_conflict": {
    type: "operation.needs_review",
    operation: named,
    when: (operation) => operation?.status !== "needs_review",
  },
  "dispute.opened": { type: "dispute.opened", operation: () => undefined },
  "dispute.updated": { type: "dispute.updated", operation: () => undefined },
  "dispute.closed": { type: "dispute.closed", operation: () => undefined },
  "review.resolved": { type: "operation.resolved", operation: named },

  "authorize.started": INNER,
  "authorize.succeeded": INNER,
  "authorize.failed": INNER,
  "authorize.not_sent": INNER,
  "authorize.resent": INNER,
  "capture.started": INNER,
  "capture.succeeded": INNER,
  "capture.not_sent": INNER,
  "capture.resent": INNER,
  "void.started": INNER,
  "void.succeeded": INNER,
  "void.not_sent": INNER,
  "void.resent": INNER,
  "refund.started": INNER,
  "refund.not_sent": INNER,
  "refund.resent": INNER,
  "payment.expiry_shortened": INNER,
  "review.pending": INNER,
};

function named(payment: Payment, { data }: PaymentEvent): Operation | undefined {
  return payment.facts.operations.find(({ id }) => id === data["operationId"]);
}

function succeeded(kind: Operation["kind"]): Publication["operation"] {
  return ({ facts }) =>
    facts.operations.findLast(
      (operation) => operation.kind === kind && operation.status === "succeeded" && !isRelease(operation),
    );
}

function theAuthorization({ facts }: Payment): Operation | undefined {
  return facts.operations.find(({ kind }) => kind === "authorize");
}

function isNoRelease(operation: Operation | undefined): boolean {
  return operation === undefined || !isRelease(operation);
}

function isFirstNews(operation: Operation | undefined, event: PaymentEvent): boolean {
  return isNoRelease(operation) && isNews(event);
}

/** The history also tells how often the gateway was asked in vain. */
function isNews({ data }: PaymentEvent): boolean {
  return data["again"] !== true;
}
