import { TWO_ANSWERS } from "../events";
import type { GatewayStatement } from "../facts";
import { isOpen, isRelease, progressed, type Operation } from "../operation";
import { amountRefunded, openOperationOf, type Payment } from "../payment";
import type { Step } from "../step";
import { recorded, type Change } from "./recorded";

export interface ReasonForReview {
  readonly reason: string;
  /** When the gateway is asked about it next. */
  readonly dueAt: Date | null;
  readonly gatewayReference?: string | undefined;
}

/** It cannot be told from here, so a person has to look. */
export function broughtToReview(
  payment: Payment,
  operation: Operation,
  { reason, dueAt, gatewayReference }: ReasonForReview,
  step: Step,
): Payment {
  const change: Change = {
    row: progressed(operation, {
      status: "needs_review",
      attempts: 0,
      askedAt: step.now,
      decidesBy: null,
      // Where two answers contradict each other a third one decides nothing, so the gateway is not asked for it.
      dueAt: operation.conflicted ? null : dueAt,
    }),
    status: payment.facts.status,
    history: [
      [
        "operation.needs_review",
        {
          operationId: operation.id,
          kind: operation.kind,
          ...(isRelease(operation) ? { release: true } : {}),
          reason,
          ...(gatewayReference === undefined ? {} : { gatewayReference }),
        },
      ],
    ],
  };
  return recorded(payment, change, step);
}

/** Two answers for one key: a person decides between them, as soon as the operation can be opened for that. */
export function contradicted(
  payment: Payment,
  operation: Operation,
  answer: GatewayStatement,
  step: Step,
): Payment {
  return withPendingReview(withConflict(payment, operation, answer, step), step);
}

export function withConflict(
  payment: Payment,
  operation: Operation,
  answer: GatewayStatement,
  step: Step,
): Payment {
  const { id, status } = operation;
  const evidence = answer.outcome === "mismatch" ? { evidence: answer.evidence } : {};
  const told = { operationId: id, recorded: status, answer: answer.outcome, ...evidence };
  const change: Change = {
    row: progressed(operation, { conflicted: true }),
    status: payment.facts.status,
    history: [["operation.evidence_conflict", told]],
  };
  return recorded(payment, change, step);
}

/** One operation is open at a time, so a contradicted one is opened again only when the way is free. */
export function withPendingReview(payment: Payment, step: Step): Payment {
  const pending = payment.facts.operations.find(
    (operation) => operation.conflicted && !isOpen(operation) && canReopen(payment, operation),
  );
  if (pending === undefined || openOperationOf(payment) !== undefined) return payment;
  return broughtToReview(payment, pending, { reason: TWO_ANSWERS, dueAt: null }, step);
}

/** Refunds hang on the capture: it goes on counting until a person has decided, or they would exceed it. */
function canReopen(payment: Payment, { kind, status }: Operation): boolean {
  return !(kind === "capture" && status === "succeeded" && amountRefunded(payment) > 0n);
}
