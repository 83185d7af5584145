import type { EventData } from "../../domain/payment/events";
import type { Operation } from "../../domain/payment/operation";
import { openOperationOf } from "../../domain/payment/payment";
import { find, gatewayTrace } from "../operations/ask-gateway";
import { isRecorded } from "../operations/ask-in-review";
import type { UnderLock } from "../operations/operation-context";
import { settleOperation } from "../operations/settle-operation";
import type { ActionRequired, FindAnswer, Mismatch, RecordedAnswer } from "../ports/payment-gateway";
import type { StoredPayment } from "../ports/payment-repository";

/**
 * Asks what became of the open operation, and writes down what settles it. Nothing is sent, and an answer that settles
 * nothing leaves no trace: hints, however many, neither send a key again nor use up the schedule by which a person is
 * called. Resolves with false where the gateway gave no answer, or it could not be stored.
 */
export async function settleByAsking(work: UnderLock, stored: StoredPayment): Promise<boolean> {
  const operation = openOperationOf(stored.payment);
  if (operation === undefined) return true;
  const { context, trace } = work;
  const found = await find(context.gateway, stored.payment, operation);
  if (found.outcome === "unknown") return false;
  if (!isNews(operation, found)) return true;
  const told: EventData = { ...trace, ...gatewayTrace("find", operation, found) };
  const after = await settleOperation(context, stored, {
    operationId: operation.id,
    verdict: found,
    trace: told,
  });
  return after !== null;
}

/**
 * What does not fit brings an operation before a person, and is no answer that would end a review. Where the customer has to
 * act is news to an operation whose own answer was lost.
 */
function isNews(
  { status }: Operation,
  found: FindAnswer,
): found is RecordedAnswer | ActionRequired | Mismatch {
  if (found.outcome === "requires_action") return status === "started" || status === "unknown";
  return isRecorded(found) || found.outcome === "mismatch";
}
