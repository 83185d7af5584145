import type { IdempotencyKey, OperationId } from "../identifiers";
import { PaymentError } from "./errors";
import type { PaymentEvent } from "./events";
import type { PaymentFacts } from "./facts";
import { beforeCorrection, isOpen, isRelease, type Operation, type OperationKind } from "./operation";
import type { PaymentStatus } from "./transitions";

/**
 * A payment with its operations: plain data that nothing changes in place. It is read by the functions of this file, and
 * goes on only by the steps beside it, each of which gives the next payment with the events that tell of it:
 *
 * - `opening`: a payment begins, with an authorization of its own or one that was made elsewhere;
 * - `decide-movement`: whether a capture, a void, a refund or a repeated authorization may be sent;
 * - `customer/customer-action`: the customer has to act at the gateway first, or is not waited for any more;
 * - `waiting`: an operation is sent again, was certainly not sent, or has no answer yet;
 * - `later/pending`: the gateway has taken it and says later what becomes of it;
 * - `settlement`: the gateway's answer for an operation's key;
 * - `picture/observation`: what the gateway says later about an operation that has ended;
 * - `picture/observe-picture`: how the gateway sees the payment, with what others have done to it;
 * - `review`: what a person decides;
 * - `expiry`: the authorization's time has passed.
 *
 * No step knows what the time is, which process holds a lock or what the gateway does: that comes in its `Step`.
 */
export interface Payment {
  readonly facts: PaymentFacts;
  /** What happened since it was read; stored together with it. */
  readonly newEvents: readonly PaymentEvent[];
}

/** What a caller sees as the status: the open operation, if there is one, else what is stored. */
export type VisibleStatus = PaymentStatus | "requires_action" | "capturing" | "voiding" | "refunding";

export function visibleStatus(payment: Payment): VisibleStatus {
  const open = openOperationOf(payment);
  if (open === undefined || isRelease(open)) return payment.facts.status;
  switch (open.kind) {
    case "authorize":
      return open.status === "requires_action" ? open.status : payment.facts.status;
    case "capture":
      return "capturing";
    case "void":
      return "voiding";
    case "refund":
      return "refunding";
  }
}

/** At most one: a second one would be sent while it is not known what becomes of the first. */
export function openOperationOf({ facts }: Payment): Operation | undefined {
  return facts.operations.find(isOpen);
}

export function operationOf({ facts }: Payment, id: OperationId): Operation | undefined {
  return facts.operations.find((operation) => operation.id === id);
}

export function operationOfKey(
  { facts }: Payment,
  kind: OperationKind,
  key: IdempotencyKey,
): Operation | undefined {
  return facts.operations.find((operation) => operation.kind === kind && operation.idempotencyKey === key);
}

export function amountCaptured(payment: Payment): bigint {
  return totalOf(payment, "capture");
}

export function amountRefunded(payment: Payment): bigint {
  return totalOf(payment, "refund");
}

export function amountCapturable(payment: Payment): bigint {
  return visibleStatus(payment) === "authorized" ? payment.facts.amount.amount : 0n;
}

/** Of what has succeeded: never added up step by step, so that it cannot drift. */
function totalOf({ facts }: Payment, kind: OperationKind): bigint {
  return facts.operations
    .filter((operation) => operation.kind === kind && operation.status === "succeeded")
    .reduce((total, { amount }) => total + amount, 0n);
}

const inProgressCodes = {
  authorize: "authorize_in_progress",
  capture: "capture_in_progress",
  void: "void_in_progress",
  refund: "refund_in_progress",
} as const;

/** The error that another request meets while this operation is open. */
export function inProgress({ facts }: Payment, { kind, status }: Operation): PaymentError {
  const pending = status === "pending" ? { operationStatus: status } : {};
  return new PaymentError(inProgressCodes[kind], { paymentId: facts.id, ...pending });
}

const statusAfter: Record<OperationKind, PaymentStatus> = {
  authorize: "authorized",
  capture: "captured",
  void: "voided",
  refund: "captured",
};

/** What was answered when this operation succeeded, whatever has happened to it and to the payment since. */
export function asItWasAfter(payment: Payment, { kind, settledAt, settledSequence }: Operation): Payment {
  if (settledAt === null || settledSequence === null) return payment;
  const operations = payment.facts.operations
    .filter((other) => other.settledSequence !== null && other.settledSequence <= settledSequence)
    .map((other) => asItWasAt(settledSequence, other));
  const status = statusAfter[kind];
  // Nobody keeps what a dispute was at that time, so no answer to a key tells of any.
  return {
    facts: { ...payment.facts, operations, disputes: [], status, updatedAt: settledAt },
    newEvents: [],
  };
}

/** What the gateway took back later counted then. */
function asItWasAt(sequence: number, operation: Operation): Operation {
  const { correctedSequence } = operation;
  return correctedSequence !== null && correctedSequence > sequence ? beforeCorrection(operation) : operation;
}
