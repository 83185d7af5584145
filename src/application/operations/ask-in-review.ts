import type { OperationId } from "../../domain/identifiers";
import { isReopenedByContradiction, type Operation } from "../../domain/operation";
import type { EventData } from "../../domain/payment-events";
import type { FindAnswer, RecordedAnswer } from "../ports/payment-gateway";
import { StoreUnavailableError, VersionConflictError, type StoredPayment } from "../ports/payment-repository";
import { find, gatewayTrace } from "./ask-gateway";
import { stepAt, type OperationContext } from "./operation-context";
import { isDue, nextReviewDueAt } from "./reconcile-schedule";
import type { Resolved } from "./resolve-operation";
import { settleOperation } from "./settle-operation";

/**
 * Asks about an operation that waits for a person. Only asks: nothing is sent any more, for a person may be about to
 * decide. An answer that the gateway has recorded ends the review; all others put the next question off.
 */
export async function askInReview(
  context: OperationContext,
  stored: StoredPayment,
  operation: Operation,
  trace: EventData,
): Promise<Resolved> {
  if (isReopenedByContradiction(operation)) return { stored, by: "row" };
  const found = await find(context.gateway, stored.payment, operation);
  const asked: EventData = { ...trace, ...gatewayTrace("find", operation, found) };
  const settled = isRecorded(found)
    ? ((await settleOperation(context, stored, operation.id, found, asked)) ?? stored)
    : stored;
  const after = settled.payment.operation(operation.id);
  if (after?.status !== "needs_review") return { stored: settled, by: "find" };
  return { stored: await putOff(context, settled, after, found, asked), by: "find" };
}

export function isRecorded(found: FindAnswer): found is RecordedAnswer {
  return (
    found.outcome === "succeeded" || found.outcome === "declined" || found.outcome === "authorization_gone"
  );
}

/** Only a question that was due uses up a step of the schedule. One that cannot be written down is asked again. */
async function putOff(
  context: OperationContext,
  stored: StoredPayment,
  operation: Operation,
  found: FindAnswer,
  trace: EventData,
): Promise<StoredPayment> {
  const now = context.clock.now();
  const wasDue = isDue(operation, now);
  const next = wasDue
    ? {
        attempts: operation.attempts + 1,
        dueAt: nextReviewDueAt(now, operation.attempts + 1, context.random),
      }
    : {
        attempts: operation.attempts,
        dueAt: operation.dueAt ?? nextReviewDueAt(now, operation.attempts, context.random),
      };
  const news =
    found.outcome === "mismatch" ? await newsOf(context, stored, operation.id, found.evidence) : null;
  const { id } = operation;
  try {
    const step = stepAt(context, now, trace);
    return await context.payments.save(stored.payment.stillInReview(id, next, news, step), stored.version);
  } catch (error) {
    if (error instanceof StoreUnavailableError || error instanceof VersionConflictError) return stored;
    throw error;
  }
}

/** What does not fit is told once, and again when it is something else. */
async function newsOf(
  { payments }: OperationContext,
  { payment }: StoredPayment,
  id: OperationId,
  evidence: string,
): Promise<string | null> {
  const events = (await payments.events(payment.id)) ?? [];
  const told = events.findLast(
    ({ type, data }) => type === "operation.needs_review" && data["operationId"] === id,
  );
  return told?.data["reason"] === evidence ? null : evidence;
}
