import type { OperationId } from "./identifiers";
import { isOpen, isRelease, progressed, type Operation, type OperationKind } from "./operation";
import type { OperationFailureCode } from "./payment-errors";
import type { Step } from "./payment-events";
import type { GatewayStatement, SettledAnswer } from "./payment-facts";
import type { PaymentRecord } from "./payment-record";

type Success = Extract<SettledAnswer, { outcome: "succeeded" }>;
type Refusal = Exclude<SettledAnswer, Success>;

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
  releaseDueAt: Date | null,
  step: Step,
): P {
  const operation = payment.must(id);
  if (!isOpen(operation)) return contradicted(payment, operation, answer, step);
  // Two answers have been recorded already; a third one cannot decide between them.
  if (operation.conflicted) return payment;
  if (isRelease(operation)) return settleRelease(payment, operation, answer, releaseDueAt, step);
  const settled =
    answer.outcome === "succeeded"
      ? succeeded(payment, operation, answer, step)
      : failed(payment, operation, answer, releaseId, step);
  return withPendingReview(withReviewEnded(settled, operation, step), step);
}

/** The movement's own event tells what came of it; this one, that nobody has to look any more. */
function withReviewEnded<P extends PaymentRecord>(payment: P, before: Operation, step: Step): P {
  if (before.status !== "needs_review") return payment;
  return payment.withEvent("review.resolved", step, {
    operationId: before.id,
    kind: before.kind,
    outcome: payment.must(before.id).status === "succeeded" ? "moved" : "not_moved",
    resolvedBy: "gateway",
  });
}

export function asSucceeded(
  payment: PaymentRecord,
  operation: Operation,
  reference: string | null,
  step: Step,
): Operation {
  return progressed(operation, {
    status: "succeeded",
    gatewayReference: reference,
    askedAt: step.now,
    dueAt: null,
    // A success that a person confirms was one when the refunds that hang on it were answered.
    ...(operation.status === "succeeded" ? {} : settlement(payment, step)),
  });
}

export function asFailed(
  payment: PaymentRecord,
  operation: Operation,
  failureCode: OperationFailureCode,
  failureReason: string,
  step: Step,
): Operation {
  return progressed(operation, {
    status: "failed",
    failureCode,
    failureReason,
    askedAt: step.now,
    dueAt: null,
    ...settlement(payment, step),
  });
}

function settlement(payment: PaymentRecord, step: Step) {
  return { settledAt: step.now, settledSequence: payment.nextSettlement, correctedSequence: null };
}

export function declinedCode(kind: OperationKind): OperationFailureCode {
  return declinedCodes[kind];
}

function succeeded<P extends PaymentRecord>(
  payment: P,
  operation: Operation,
  { reference, expiresAt }: Success,
  step: Step,
): P {
  const amount = Number(operation.amount);
  const settled = payment
    .withOperation(asSucceeded(payment, operation, reference, step), step)
    .withEvent(`${operation.kind}.succeeded`, step, { operationId: operation.id, amount })
    .moved(`${operation.kind}.succeeded`, step);
  switch (operation.kind) {
    case "authorize":
      return withinItsTime(
        settled
          .changed({ authorizedAt: step.now, authorizationReference: reference })
          .withEvent("payment.authorized", step, { expiresAt: payment.facts.expiresAt.toISOString() }),
        expiresAt,
        step,
      );
    case "capture":
      return settled.withEvent("payment.captured", step, { amount });
    case "void":
      return settled.withEvent("payment.voided", step, {});
    case "refund":
      return settled;
  }
}

/** What the gateway lets go of by itself cannot be captured later, whatever the caller has asked for. */
function withinItsTime<P extends PaymentRecord>(payment: P, gatewaysEnd: Date | undefined, step: Step): P {
  const wanted = payment.facts.expiresAt;
  if (gatewaysEnd === undefined || gatewaysEnd >= wanted) return payment;
  return payment.changed({ expiresAt: gatewaysEnd }).withEvent("payment.expiry_shortened", step, {
    wanted: wanted.toISOString(),
    expiresAt: gatewaysEnd.toISOString(),
    reason: "the gateway keeps the money no longer",
  });
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
    .withOperation(asFailed(payment, operation, failureCode, reason, step), step)
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

/**
 * Nobody waits for a release, so a refusal does not end it: the next try has a key of its own. After the last one
 * (`dueAt` is null) a person has to hear of money that cannot be let go.
 */
function settleRelease<P extends PaymentRecord>(
  payment: P,
  operation: Operation,
  answer: SettledAnswer,
  dueAt: Date | null,
  step: Step,
): P {
  if (answer.outcome === "declined") {
    // That it is refused is why the person was asked.
    if (operation.status === "needs_review") return payment;
    const { reason } = answer;
    if (dueAt === null) {
      const attempts = operation.attempts + 1;
      const told = payment.withEvent("void.failed", step, {
        operationId: operation.id,
        release: true,
        reason,
      });
      const inVain = `the money was not let go in ${attempts} attempts: ${reason}`;
      return broughtToReview(told, operation, { reason: inVain, dueAt: step.now }, step);
    }
    const again = progressed(operation, {
      status: "unknown",
      n: operation.n + 1,
      attempts: operation.attempts + 1,
      firstSentAt: null,
      askedAt: step.now,
      dueAt,
    });
    return payment.withOperation(again, step).withEvent("void.failed", step, {
      operationId: operation.id,
      release: true,
      reason,
      nextKey: again.n,
    });
  }
  // Gone is what a release is for.
  const reference = answer.outcome === "succeeded" ? answer.reference : null;
  const released = payment
    .withOperation(asSucceeded(payment, operation, reference, step), step)
    .moved("release.succeeded", step)
    .withEvent("void.succeeded", step, { operationId: operation.id, release: true });
  return withPendingReview(withReviewEnded(released, operation, step), step);
}

/**
 * For an answer that this payment cannot have, or that no store takes: kept for a person, or it would be asked for, and
 * be in vain, for ever.
 */
export function unappliable<P extends PaymentRecord>(
  payment: P,
  id: OperationId,
  answer: SettledAnswer,
  why: string,
  step: Step,
): P {
  const operation = payment.must(id);
  if (operation.conflicted) return payment;
  if (!isOpen(operation)) return withConflict(payment, operation, answer, step);
  const reference = answer.outcome === "succeeded" ? (answer.reference ?? undefined) : undefined;
  const reason = `the gateway answered ${answer.outcome}, which cannot be recorded: ${why}`;
  const conflicted = progressed(operation, { conflicted: true });
  return broughtToReview(payment, conflicted, { reason, dueAt: null, gatewayReference: reference }, step);
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
  return withPendingReview(withConflict(payment, operation, answer, step), step);
}

export function withConflict<P extends PaymentRecord>(
  payment: P,
  operation: Operation,
  answer: GatewayStatement,
  step: Step,
): P {
  return payment
    .withOperation(progressed(operation, { conflicted: true }), step)
    .withEvent("operation.evidence_conflict", step, {
      operationId: operation.id,
      recorded: operation.status,
      answer: answer.outcome,
    });
}

/** Nobody can tell, so a person has to look. `dueAt` is when the gateway is asked about it next. */
export function broughtToReview<P extends PaymentRecord>(
  payment: P,
  operation: Operation,
  why: {
    readonly reason: string;
    readonly dueAt: Date | null;
    readonly gatewayReference?: string | undefined;
  },
  step: Step,
): P {
  const { reason, gatewayReference } = why;
  // Where two answers contradict each other a third one decides nothing, so nobody asks for it.
  const dueAt = operation.conflicted ? null : why.dueAt;
  const change = { status: "needs_review", attempts: 0, askedAt: step.now, dueAt } as const;
  const changed = progressed(operation, change);
  return payment.withOperation(changed, step).withEvent("operation.needs_review", step, {
    operationId: operation.id,
    kind: operation.kind,
    ...(isRelease(operation) ? { release: true } : {}),
    reason,
    ...(gatewayReference === undefined ? {} : { gatewayReference }),
  });
}

/** Which two, the event of the contradiction tells. */
export const TWO_ANSWERS = "two answers for the same key contradict each other";

/** One operation is open at a time, so a contradicted one is opened again only when the way is free. */
export function withPendingReview<P extends PaymentRecord>(payment: P, step: Step): P {
  const pending = payment.facts.operations.find(
    (operation) => operation.conflicted && !isOpen(operation) && canReopen(payment, operation),
  );
  if (pending === undefined || payment.openOperation !== undefined) return payment;
  // A third answer decides nothing, so nobody asks for it.
  return broughtToReview(payment, pending, { reason: TWO_ANSWERS, dueAt: null }, step);
}

/** Refunds hang on the capture: it goes on counting until a person has decided, or they would exceed it. */
function canReopen(payment: PaymentRecord, { kind, status }: Operation): boolean {
  return !(kind === "capture" && status === "succeeded" && payment.amountRefunded > 0n);
}
