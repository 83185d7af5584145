import type { OperationId } from "../../domain/identifiers";
import { isOpen, isRelease, type Operation } from "../../domain/operation";
import type { EventData } from "../../domain/payment-events";
import { LockLostError } from "../ports/lock-errors";
import type { LockHold } from "../ports/lock-provider";
import { StoreUnavailableError, VersionConflictError, type StoredPayment } from "../ports/payment-repository";
import { find, gatewayTrace, send } from "./ask-gateway";
import { askInReview } from "./ask-in-review";
import { stepAt, type OperationContext } from "./operation-context";
import { CLOCK_TOLERANCE_MS, isDue } from "./reconcile-schedule";
import { settleOperation, type GatewayVerdict } from "./settle-operation";

/** The gateway is asked at most this often about one operation; in between the stored row answers. */
const MIN_ASK_INTERVAL_MS = 2_000;
/** A key is not sent again in the last hour of the gateway's memory of it. */
const FORGETTING_MARGIN_MS = 3_600_000;

export interface Resolved {
  readonly stored: StoredPayment;
  /** What it took: nothing was asked, the gateway's record sufficed, or the key was sent again. */
  readonly by: "row" | "find" | "resend";
}

/**
 * Finds out what became of an open operation. Always called under the payment's lock: by the reconciler, by a repeated
 * request, and by another request that finds the operation in its way.
 *
 * An operation ends only by an answer recorded for its key. That the gateway does not know the key is no answer: the
 * request may still be on its way, and closing it now would let another key move the money a second time. So an
 * accepted intent is sent again, under the same key, until the gateway says what it did.
 */
export async function resolveOperation(
  context: OperationContext,
  stored: StoredPayment,
  operationId: OperationId,
  hold: LockHold,
  trace: EventData,
): Promise<Resolved> {
  const operation = stored.payment.operation(operationId);
  if (operation === undefined || !isOpen(operation)) return { stored, by: "row" };
  const now = context.clock.now();
  if (wasJustAsked(operation, now)) return { stored, by: "row" };

  if (operation.status === "needs_review") return askInReview(context, stored, operation, trace);

  // A release that was never sent needs no question: there is nothing that the gateway could know of it.
  if (operation.firstSentAt !== null) {
    const found = await find(context.gateway, stored.payment, operation);
    const asked: EventData = { ...trace, ...gatewayTrace("find", operation, found) };
    if (found.outcome !== "absent" && found.outcome !== "pending" && found.outcome !== "unknown") {
      return settled(context, stored, operationId, found, asked, "find");
    }
    if (found.outcome === "pending") {
      const verdict: GatewayVerdict = { outcome: "unknown", reason: "the gateway has not decided yet" };
      return settled(context, stored, operationId, verdict, asked, "find");
    }
    // What a release lets go is gone after the first time: sent twice, it moves nothing twice.
    if (!isRelease(operation) && isForgotten(context, operation, now)) {
      const verdict: GatewayVerdict = {
        outcome: "unknown",
        reason: "too old to be sent again under its key",
      };
      return settled(context, stored, operationId, verdict, asked, "find");
    }
  }

  hold.assertHeld();
  let claimed: StoredPayment;
  try {
    const step = stepAt(context, context.clock.now(), trace);
    claimed = await context.payments.save(
      stored.payment.claimResend(operationId, isDue(operation, now), step),
      stored.version,
    );
  } catch (error) {
    if (!(error instanceof VersionConflictError)) throw error;
    // Somebody else is at it, without our lock: let them.
    return { stored: (await context.payments.find(stored.payment.id)) ?? stored, by: "find" };
  }
  const answer = await send(context.gateway, claimed.payment, operation);
  // "Not sent" is the truth about this send only, and says nothing about an earlier one.
  const verdict: GatewayVerdict =
    answer.outcome === "not_sent"
      ? { outcome: "unknown", reason: `resend failed: ${answer.reason}` }
      : answer;
  const sent: EventData = { ...trace, ...gatewayTrace(operation.kind, operation, answer) };
  return settled(context, claimed, operationId, verdict, sent, "resend");
}

/** The same for who has to answer somebody: where it cannot go on, the operation is open, as it was read. */
export async function resolveAsFarAsPossible(
  ...[context, stored, operationId, hold, trace]: Parameters<typeof resolveOperation>
): Promise<Resolved> {
  try {
    return await resolveOperation(context, stored, operationId, hold, trace);
  } catch (error) {
    if (error instanceof StoreUnavailableError || error instanceof LockLostError)
      return { stored, by: "row" };
    throw error;
  }
}

async function settled(
  context: OperationContext,
  stored: StoredPayment,
  operationId: OperationId,
  verdict: GatewayVerdict,
  trace: EventData,
  by: "find" | "resend",
): Promise<Resolved> {
  return { stored: (await settleOperation(context, stored, operationId, verdict, trace)) ?? stored, by };
}

/** Asked in the future is not just now: the clock was set, and nobody may have asked for as long. */
function wasJustAsked({ askedAt }: Operation, now: Date): boolean {
  if (askedAt === null) return false;
  const agoMs = now.getTime() - askedAt.getTime();
  return agoMs > -CLOCK_TOLERANCE_MS && agoMs < MIN_ASK_INTERVAL_MS;
}

/** Whether the gateway may have. What was sent far in the future is of an age that nobody knows. */
function isForgotten(context: OperationContext, operation: Operation, now: Date): boolean {
  const { remembersKeysForMs } = context.gateway;
  const sentForMs = now.getTime() - (operation.firstSentAt ?? now).getTime();
  return sentForMs < -FORGETTING_MARGIN_MS || sentForMs >= remembersKeysForMs - FORGETTING_MARGIN_MS;
}
