import type { OperationId } from "../../domain/identifiers";
import type { EventData } from "../../domain/payment/events";
import { isReopenedByContradiction, type Operation } from "../../domain/payment/operation";
import { operationOf } from "../../domain/payment/payment";
import { stillInReview } from "../../domain/payment/review";
import type { FindAnswer, RecordedAnswer } from "../ports/payment-gateway";
import { StoreUnavailableError, VersionConflictError, type StoredPayment } from "../ports/payment-repository";
import { find, gatewayTrace } from "./ask-gateway";
import { stepNow, type OperationContext, type UnderLock } from "./operation-context";
import type { Resolved } from "./find-or-resend";
import { settleOperation } from "./settle-operation";

/**
 * Asks about an operation that waits for a person. Only asks: nothing is sent any more, for a person may be about to
 * decide. An answer that the gateway has recorded ends the review; all others put the next question off.
 */
export async function askInReview(
  { context, trace }: UnderLock,
  stored: StoredPayment,
  operation: Operation,
): Promise<Resolved> {
  if (isReopenedByContradiction(operation)) return { stored, by: "row" };
  const found = await find(context.gateway, stored.payment, operation);
  const asked: EventData = { ...trace, ...gatewayTrace("find", operation, found) };
  const settled = isRecorded(found)
    ? await settleOperation(context, stored, { operationId: operation.id, verdict: found, trace: asked })
    : stored;
  const after = settled ?? stored;
  if (operationOf(after.payment, operation.id)?.status !== "needs_review")
    return { stored: after, by: "find" };
  return { stored: await putOff(context, after, operation.id, found, asked), by: "find" };
}

export function isRecorded(found: FindAnswer): found is RecordedAnswer {
  return (
    found.outcome === "succeeded" || found.outcome === "declined" || found.outcome === "authorization_gone"
  );
}

/** A question that cannot be written down is asked again. */
async function putOff(
  context: OperationContext,
  stored: StoredPayment,
  id: OperationId,
  found: FindAnswer,
  trace: EventData,
): Promise<StoredPayment> {
  const news = found.outcome === "mismatch" ? await newsOf(context, stored, id, found.evidence) : null;
  try {
    const next = stillInReview(stored.payment, id, news, stepNow(context, trace));
    return await context.payments.save(next, stored.version);
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
  const events = (await payments.events(payment.facts.id)) ?? [];
  const told = events.findLast(
    ({ type, data }) => type === "operation.needs_review" && data["operationId"] === id,
  );
  return told?.data["reason"] === evidence ? null : evidence;
}
