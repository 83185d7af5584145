import type { OperationId } from "./identifiers";
import { isOpen, isRelease, type Operation, type OperationKind } from "./operation";
import type { OperationFailureCode } from "./payment-errors";
import type { Step } from "./payment-events";
import type { SettledAnswer } from "./payment-facts";
import type { PaymentRecord } from "./payment-record";

type Refusal = Exclude<SettledAnswer, { outcome: "succeeded" }>;

const declinedCodes: Record<OperationKind, OperationFailureCode> = {
  authorize: "authorization_declined",
  capture: "capture_declined",
  void: "void_declined",
  refund: "refund_declined",
};

/**
 * Applies an answer recorded for the operation's key. One that is not open stays as it is: the same answer again changes
 * nothing, another one is a contradiction that a person has to look at. So is a success of what was not sent, as far as
 * anybody knew: the payment may have gone on since.
 */
export function settle<P extends PaymentRecord>(
  payment: P,
  id: OperationId,
  answer: SettledAnswer,
  releaseId: OperationId,
  releaseDueAt: Date,
  step: Step,
): P {
  const operation = payment.must(id);
  if (!isOpen(operation)) return contradicted(payment, operation, answer, step);
  // Two answers have been recorded already; a third one cannot decide between them.
  if (operation.conflicted) return payment;
  if (isRelease(operation)) return settleRelease(payment, operation, answer, releaseDueAt, step);
  const settled =
    answer.outcome === "succeeded"
      ? succeeded(payment, operation, answer.reference, step)
      : failed(payment, operation, answer, releaseId, step);
  return withPendingReview(settled, step);
}

export function asSucceeded(operation: Operation, reference: string | null, step: Step): Operation {
  return {
    ...operation,
    status: "succeeded",
    gatewayReference: reference,
    askedAt: step.now,
    dueAt: null,
    settledAt: step.now,
  };
}

export function asFailed(
  operation: Operation,
  failureCode: OperationFailureCode,
  failureReason: string,
  step: Step,
): Operation {
  return {
    ...operation,
    status: "failed",
    failureCode,
    failureReason,
    askedAt: step.now,
    dueAt: null,
    settledAt: step.now,
  };
}

export function declinedCode(kind: OperationKind): OperationFailureCode {
  return declinedCodes[kind];
}

function succeeded<P extends PaymentRecord>(
  payment: P,
  operation: Operation,
  reference: string | null,
  step: Step,
): P {
  const amount = Number(operation.amount);
  const settled = payment
    .withOperation(asSucceeded(operation, reference, step), step)
    .withEvent(`${operation.kind}.succeeded`, step, { operationId: operation.id, amount })
    .moved(`${operation.kind}.succeeded`, step);
  switch (operation.kind) {
    case "authorize":
      return settled
        .changed({ authorizedAt: step.now, authorizationReference: reference })
        .withEvent("payment.authorized", step, { expiresAt: payment.facts.expiresAt.toISOString() });
    case "capture":
      return settled.withEvent("payment.captured", step, { amount });
    case "void":
      return settled.withEvent("payment.voided", step, {});
    case "refund":
      return settled;
  }
}

function failed<P extends PaymentRecord>(
  payment: P,
  operation: Operation,
  answer: Refusal,
  releaseId: OperationId,
  step: Step,
): P {
  const { kind } = operation;
  const { reason } = answer;
  const gone = answer.outcome === "authorization_gone" && (kind === "capture" || kind === "void");
  const failureCode = gone ? "payment_expired" : declinedCodes[kind];
  const settled = payment
    .withOperation(asFailed(operation, failureCode, reason, step), step)
    .withEvent(`${kind}.failed`, step, { operationId: operation.id, failureCode, reason });
  if (gone) {
    return settled
      .moved("authorization.gone", step)
      .withEvent("payment.expired", step, { reason })
      .withRelease(releaseId, step);
  }
  if (kind === "authorize") {
    return settled.moved("authorize.failed", step).withEvent("payment.declined", step, { reason });
  }
  return settled;
}

/** Nobody waits for a release, so a refusal does not end it: the next try has a key of its own. */
function settleRelease<P extends PaymentRecord>(
  payment: P,
  operation: Operation,
  answer: SettledAnswer,
  dueAt: Date,
  step: Step,
): P {
  if (answer.outcome === "declined") {
    const again: Operation = {
      ...operation,
      status: "unknown",
      n: operation.n + 1,
      attempts: operation.attempts + 1,
      firstSentAt: null,
      askedAt: step.now,
      dueAt,
    };
    return payment.withOperation(again, step).withEvent("void.failed", step, {
      operationId: operation.id,
      release: true,
      reason: answer.reason,
      nextKey: again.n,
    });
  }
  // Gone is what a release is for.
  const reference = answer.outcome === "succeeded" ? answer.reference : null;
  const released = payment
    .withOperation(asSucceeded(operation, reference, step), step)
    .moved("release.succeeded", step)
    .withEvent("void.succeeded", step, { operationId: operation.id, release: true });
  return withPendingReview(released, step);
}

function contradicted<P extends PaymentRecord>(
  payment: P,
  operation: Operation,
  answer: SettledAnswer,
  step: Step,
): P {
  const same =
    (operation.status === "succeeded") === (answer.outcome === "succeeded") || isRelease(operation);
  if (same || operation.conflicted) return payment;
  const marked = payment
    .withOperation({ ...operation, conflicted: true }, step)
    .withEvent("operation.evidence_conflict", step, {
      operationId: operation.id,
      recorded: operation.status,
      answer: answer.outcome,
    });
  return withPendingReview(marked, step);
}

/** One operation is open at a time, so a contradicted one is opened again only when the way is free. */
export function withPendingReview<P extends PaymentRecord>(payment: P, step: Step): P {
  const pending = payment.facts.operations.find(
    (operation) => operation.conflicted && !isOpen(operation) && canReopen(payment, operation),
  );
  if (pending === undefined || payment.openOperation !== undefined) return payment;
  const changed: Operation = { ...pending, status: "needs_review", dueAt: null };
  return payment.withOperation(changed, step).withEvent("operation.needs_review", step, {
    operationId: pending.id,
    kind: pending.kind,
    reason: "two answers for the same key contradict each other",
  });
}

/** Refunds hang on the capture: it goes on counting until a person has decided, or they would exceed it. */
function canReopen(payment: PaymentRecord, { kind, status }: Operation): boolean {
  return !(kind === "capture" && status === "succeeded" && payment.amountRefunded > 0n);
}
