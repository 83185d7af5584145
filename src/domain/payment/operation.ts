import type { IdempotencyKey, OperationId, PaymentId } from "../identifiers";
import type { OperationFailureCode } from "./errors";

/** One movement of money. Authorize, capture, void and refund are the same story told with different words. */
export type OperationKind = "authorize" | "capture" | "void" | "refund";

export type OperationStatus = OpenStatus | FinishedStatus | "not_sent";
/**
 * An outcome is still owed. At most one operation of a payment is open at a time. `pending`: the gateway has taken the order
 * and says later what becomes of it. `requires_action`: the customer has to do something first, at a page of the gateway.
 */
export type OpenStatus = (typeof openStatuses)[number];
const openStatuses = ["started", "unknown", "pending", "requires_action", "needs_review"] as const;
/**
 * The gateway (or a person, with evidence) has answered for this key. It changes only if the gateway itself takes its word
 * back, or if a person decides between two words.
 */
export type FinishedStatus = "succeeded" | "failed";

/** Who made it: this service, or somebody else at the gateway, in its dashboard for instance. */
export type OperationOrigin = "holdfast" | "gateway";

export type Operation = OperationBond & OperationProgress;

/** What an operation is bound to from its first row on. No step changes it, and no store lets it be changed. */
export interface OperationBond {
  readonly id: OperationId;
  readonly paymentId: PaymentId;
  readonly kind: OperationKind;
  readonly origin: OperationOrigin;
  /** Null for a release (a void that no caller asked for and whose answer nobody waits for), and for what others did. */
  readonly idempotencyKey: IdempotencyKey | null;
  /** Of the request that started it, so that its key cannot be used for another one. */
  readonly fingerprint: string;
  /** What its gateway key asks for, however often it is sent. */
  readonly amount: bigint;
  readonly createdAt: Date;
}

/** What becomes of an operation. */
export interface OperationProgress {
  /** Which gateway key of this operation is in use. Only a release ever leaves 1. */
  readonly n: number;
  readonly status: OperationStatus;
  readonly failureCode: OperationFailureCode | null;
  /** The gateway's own words for a refusal. */
  readonly failureReason: string | null;
  readonly gatewayReference: string | null;
  /** How many times the reconciler has asked in vain; indexes its schedule. Counted anew in review. */
  readonly attempts: number;
  /** An answer contradicted the recorded one, and nobody has decided yet. It stays finished while it cannot be open. */
  readonly conflicted: boolean;
  /** When the current gateway key was first sent: from here the gateway's memory of it runs. */
  readonly firstSentAt: Date | null;
  /** The end of the last time the gateway was asked about it. */
  readonly askedAt: Date | null;
  /** When the reconciler looks at it. Null for what is not open, and where no answer could decide any more. */
  readonly dueAt: Date | null;
  /** Until when the gateway says what becomes of it, where it has said that it will say so later. */
  readonly decidesBy: Date | null;
  readonly settledAt: Date | null;
  /** Of the payment's event that told of it. Clocks differ between instances; this is the order in which things ended. */
  readonly settledSequence: number | null;
  /** Of the payment's event that told that the gateway had taken its success back. Until then it counted. */
  readonly correctedSequence: number | null;
}

/** The one way to change an operation. */
export function progressed(operation: Operation, change: Partial<OperationProgress>): Operation {
  return { ...operation, ...change };
}

/** The success that was recorded, and answered, before the gateway took it back. */
export function beforeCorrection(operation: Operation): Operation {
  return progressed(operation, {
    status: "succeeded",
    failureCode: null,
    failureReason: null,
    correctedSequence: null,
  });
}

export function isOpen(operation: Operation): boolean {
  return (openStatuses as readonly OperationStatus[]).includes(operation.status);
}

export function isFinished(operation: Operation): boolean {
  return operation.status === "succeeded" || operation.status === "failed";
}

/** A person has to decide: nobody knows, or two answers contradict each other. */
export function isInReview(operation: Operation): boolean {
  return operation.status === "needs_review" || operation.conflicted;
}

/** It had an answer, and another one contradicts it: no third one decides between them. */
export function isReopenedByContradiction(operation: Operation): boolean {
  return operation.status === "needs_review" && operation.conflicted;
}

export function isRelease(operation: Operation): boolean {
  return operation.kind === "void" && operation.idempotencyKey === null && operation.origin === "holdfast";
}

/** It was sent, and has not let the money go: perhaps because others took it. */
export function isVoidInVain(operation: Operation): boolean {
  return operation.kind === "void" && isOpen(operation) && !isReopenedByContradiction(operation);
}

/** What the gateway knows this operation by. The same for every resend, or a resend could move money again. */
export function gatewayKey(operation: Operation): string {
  return `${operation.id}.${operation.n}`;
}
