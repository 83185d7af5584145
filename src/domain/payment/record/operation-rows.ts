import { parseOperationId, type OperationId } from "../../identifiers";
import type { OperationFailureCode } from "../errors";
import type { KeyedRequest } from "../facts";
import {
  isOpen,
  progressed,
  type Operation,
  type OperationKind,
  type OperationOrigin,
  type OperationProgress,
} from "../operation";
import { operationOf, type Payment } from "../payment";
import type { Step } from "../step";
import { nextSequence, recorded, type Change } from "./recorded";

export function mustHave(payment: Payment, id: OperationId): Operation {
  const operation = operationOf(payment, id);
  if (operation === undefined) throw new Error(`payment ${payment.facts.id} has no operation ${id}`);
  return operation;
}

export function mustBeOpen(payment: Payment, id: OperationId): Operation {
  const operation = mustHave(payment, id);
  if (!isOpen(operation)) throw new Error(`operation ${id} is ${operation.status}, not open`);
  return operation;
}

/** Started, and neither sent nor due. `request` is null for a release, and for what was made elsewhere. */
export function newOperation(
  { facts }: Payment,
  what: {
    readonly kind: OperationKind;
    readonly amount: bigint;
    readonly request: KeyedRequest | null;
    readonly origin?: OperationOrigin;
  },
  step: Step,
): Operation {
  const { kind, amount, request, origin = "holdfast" } = what;
  return {
    id: parseOperationId(step.nextId()),
    paymentId: facts.id,
    kind,
    origin,
    idempotencyKey: request?.idempotencyKey ?? null,
    fingerprint: request?.fingerprint ?? "",
    amount,
    n: 1,
    status: "started",
    failureCode: null,
    failureReason: null,
    gatewayReference: null,
    attempts: 0,
    conflicted: false,
    createdAt: step.now,
    firstSentAt: null,
    askedAt: null,
    dueAt: null,
    decidesBy: null,
    settledAt: null,
    settledSequence: null,
    correctedSequence: null,
  };
}

/** Owes the gateway the release of the reserved money. It is due at once, and no caller waits for it. */
export function withRelease(payment: Payment, step: Step): Payment {
  const { amount } = payment.facts.amount;
  const release = newOperation(payment, { kind: "void", amount, request: null }, step);
  const change: Change = {
    row: progressed(release, { dueAt: step.now }),
    status: payment.facts.status,
    history: [["void.started", { operationId: release.id, release: true }]],
  };
  return recorded(payment, change, step);
}

/** The row of an operation that succeeds by the next change. */
export function asSucceeded(
  payment: Payment,
  operation: Operation,
  reference: string | null,
  step: Step,
): Operation {
  // A success that a person confirms was one when the refunds that hang on it were answered.
  const ending = operation.status === "succeeded" ? {} : endingNow(payment, step);
  return progressed(operation, {
    status: "succeeded",
    gatewayReference: reference,
    askedAt: step.now,
    dueAt: null,
    decidesBy: null,
    ...ending,
  });
}

/** The row of an operation that fails by the next change. */
export function asFailed(
  payment: Payment,
  operation: Operation,
  failure: { readonly code: OperationFailureCode; readonly reason: string },
  step: Step,
): Operation {
  return progressed(operation, {
    status: "failed",
    failureCode: failure.code,
    failureReason: failure.reason,
    askedAt: step.now,
    dueAt: null,
    decidesBy: null,
    ...endingNow(payment, step),
  });
}

/** The first event of the change is the one that tells of the end. */
function endingNow(payment: Payment, step: Step): Partial<OperationProgress> {
  return { settledAt: step.now, settledSequence: nextSequence(payment), correctedSequence: null };
}

export const declinedCodes: Record<OperationKind, OperationFailureCode> = {
  authorize: "authorization_declined",
  capture: "capture_declined",
  void: "void_declined",
  refund: "refund_declined",
};
