import type { OperationId, PaymentId } from "../../domain/identifiers";
import { isOpen, isRelease, type Operation } from "../../domain/operation";
import type { Payment, SettledAnswer } from "../../domain/payment";
import type { EventData } from "../../domain/payment-events";
import { parseOperationId } from "../../domain/identifiers";
import {
  DuplicateAuthorizationError,
  StoreUnavailableError,
  VersionConflictError,
  type StoredPayment,
} from "../ports/payment-repository";
import type { Mismatch } from "../ports/payment-gateway";
import { budgets } from "./budgets";
import { stepAt, type OperationContext } from "./operation-context";
import { isDue, nextDueAt, nextReleaseDueAt, nextReviewDueAt } from "./reconcile-schedule";

export type GatewayVerdict =
  SettledAnswer | { readonly outcome: "unknown"; readonly reason: string } | Mismatch;

/** Waits between tries when the store fails; together well inside the budget for saves. */
const STORE_RETRY_MS = [50, 100, 200, 400] as const;
/** Each round means that somebody else has written this payment meanwhile; nobody does that for long. */
const MAX_ROUNDS = 20;

/**
 * SETTLE: writes down what became of an operation. Somebody else may have settled it meanwhile: the answer is then applied to
 * the operation as it is *now*. An answer that cannot be applied, or that the store's guards refuse, goes before a person.
 * Returns what is stored; null when the store kept failing, or took too long (the operation stays as it was, and due,
 * unless a try that nobody waited for succeeds).
 */
export async function settleOperation(
  context: OperationContext,
  read: StoredPayment,
  operationId: OperationId,
  verdict: GatewayVerdict,
  trace: EventData,
): Promise<StoredPayment | null> {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => {
      isOver = true;
      resolve(null);
    }, budgets.savesMs);
  });
  try {
    // A try that is under way goes on, and what it writes is true; nobody waits for it any more.
    return await Promise.race([keepTrying(context, read, operationId, verdict, trace, () => isOver), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function keepTrying(
  context: OperationContext,
  read: StoredPayment,
  operationId: OperationId,
  verdict: GatewayVerdict,
  trace: EventData,
  isOver: () => boolean,
): Promise<StoredPayment | null> {
  let stored: StoredPayment | null = read;
  let found = verdict;
  let storeFailures = 0;
  let refusedAt: number | undefined;
  let whyNot: string | undefined;
  for (let round = 0; round < MAX_ROUNDS && !isOver(); round += 1) {
    try {
      stored ??= await readAgain(context, read.payment.id);
      const next = isAboutFormerKey(read, stored, operationId, found)
        ? stored.payment
        : whyNot !== undefined && isAnswer(found)
          ? stored.payment.unappliable(
              operationId,
              found,
              whyNot,
              stepAt(context, context.clock.now(), trace),
            )
          : applied(context, stored.payment, operationId, found, trace);
      return next === stored.payment ? stored : await context.payments.save(next, stored.version);
    } catch (error) {
      if (error instanceof StoreUnavailableError) {
        const waitMs = STORE_RETRY_MS[storeFailures];
        if (waitMs === undefined) return null;
        storeFailures += 1;
        await context.sleep(waitMs);
      } else if (error instanceof DuplicateAuthorizationError) {
        // Two payments with one authorization would capture its money twice.
        found = { outcome: "mismatch", evidence: error.message };
      } else if (error instanceof VersionConflictError) {
        // Twice at one version: nobody else has written, so it is what is written that the store refuses.
        if (refusedAt === stored?.version) whyNot = "with it, the payment's totals could not be true";
        refusedAt = stored?.version;
      } else {
        if (whyNot !== undefined || !isAnswer(found)) throw error;
        whyNot = error instanceof Error ? error.message : String(error);
      }
      stored = null;
    }
  }
  return null;
}

function isAnswer(verdict: GatewayVerdict): verdict is SettledAnswer {
  return verdict.outcome !== "unknown" && verdict.outcome !== "mismatch";
}

/** A release has gone on to its next key meanwhile: that its former one was refused is known. */
function isAboutFormerKey(
  read: StoredPayment,
  stored: StoredPayment,
  operationId: OperationId,
  { outcome }: GatewayVerdict,
): boolean {
  const asked = read.payment.operation(operationId);
  return outcome !== "succeeded" && asked?.n !== stored.payment.operation(operationId)?.n;
}

async function readAgain(context: OperationContext, id: PaymentId): Promise<StoredPayment> {
  const stored = await context.payments.find(id);
  if (stored === null) throw new Error(`payment ${id} is gone from the store`);
  return stored;
}

function applied(
  context: OperationContext,
  payment: Payment,
  operationId: OperationId,
  verdict: GatewayVerdict,
  trace: EventData,
): Payment {
  const operation = payment.operation(operationId);
  if (operation === undefined) throw new Error(`payment ${payment.id} has no operation ${operationId}`);
  const now = context.clock.now();
  const step = stepAt(context, now, trace);
  switch (verdict.outcome) {
    case "unknown":
      return isWaitedFor(operation)
        ? rescheduled(context, payment, operation, verdict.reason, now, trace)
        : payment;
    case "mismatch":
      return isWaitedFor(operation)
        ? payment.needsReview(
            operationId,
            verdict.evidence,
            nextReviewDueAt(now, 0, context.random),
            step,
            verdict.reference,
          )
        : payment;
    default: {
      const releaseDueAt = nextReleaseDueAt(now, operation.attempts, context.random);
      return payment.settle(operationId, verdict, parseOperationId(context.ids.nextId()), releaseDueAt, step);
    }
  }
}

/** Only a look that was due uses up a step of the schedule: impatient callers must not hurry an operation into review. */
function rescheduled(
  context: OperationContext,
  payment: Payment,
  operation: Operation,
  reason: string,
  now: Date,
  trace: EventData,
): Payment {
  const step = stepAt(context, now, trace);
  const wasDue = isDue(operation, now) && operation.askedAt !== null;
  const attempts = wasDue ? operation.attempts + 1 : operation.attempts;
  const dueAt = isRelease(operation)
    ? nextReleaseDueAt(now, attempts, context.random)
    : wasDue || operation.dueAt === null || operation.askedAt === null
      ? nextDueAt(now, attempts, context.random)
      : operation.dueAt;
  if (dueAt === null) {
    const asked = payment.stillUnknown(operation.id, { dueAt: now, attempts }, reason, step);
    return asked.needsReview(
      operation.id,
      `the gateway gave no answer in ${attempts} attempts: ${reason}`,
      nextReviewDueAt(now, 0, context.random),
      step,
    );
  }
  return payment.stillUnknown(operation.id, { dueAt, attempts }, reason, step);
}

function isWaitedFor(operation: Operation): boolean {
  return isOpen(operation) && operation.status !== "needs_review";
}
