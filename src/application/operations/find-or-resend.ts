import type { OperationId } from "../../domain/identifiers";
import type { EventData } from "../../domain/payment/events";
import type { GatewayVerdict } from "../../domain/payment/facts";
import { isOpen, isRelease, type Operation } from "../../domain/payment/operation";
import { openOperationOf, operationOf } from "../../domain/payment/payment";
import { claimResend } from "../../domain/payment/waiting";
import { askWhileCustomerActs } from "../customer-action/ask-while-customer-acts";
import { LockLostError } from "../ports/lock-errors";
import type { FindAnswer } from "../ports/payment-gateway";
import { StoreUnavailableError, VersionConflictError, type StoredPayment } from "../ports/payment-repository";
import { find, gatewayTrace, send } from "./ask-gateway";
import { askInReview } from "./ask-in-review";
import { stepNow, type OperationContext, type UnderLock } from "./operation-context";
import { CLOCK_TOLERANCE_MS } from "./reconcile-schedule";
import { settleOperation } from "./settle-operation";

/** The gateway is asked at most this often about one operation; in between the stored row answers. */
const MIN_ASK_INTERVAL_MS = 2_000;
/** A key is not sent again in the last hour of the gateway's memory of it. */
const FORGETTING_MARGIN_MS = 3_600_000;

export interface Resolved {
  readonly stored: StoredPayment;
  /** What it took: nothing was asked, the gateway's record sufficed, or the key was sent again. */
  readonly by: "row" | "find" | "resend";
  /** The gateway was asked about a customer who has to act, and did not say whether they have. */
  readonly silent?: true;
}

/**
 * Finds out what became of an open operation. Always called under the payment's lock: by the reconciler, by a repeated
 * request, and by another request that finds the operation in its way.
 *
 * An operation ends only by an answer recorded for its key. That the gateway does not know the key is no answer: the
 * request may still be on its way, and closing it now would let another key move the money a second time. So an
 * accepted intent is sent again, under the same key, until the gateway says what it did.
 */
export async function findOrResend(
  work: UnderLock,
  stored: StoredPayment,
  operationId: OperationId,
): Promise<Resolved> {
  const operation = operationOf(stored.payment, operationId);
  if (operation === undefined || !isOpen(operation)) return { stored, by: "row" };
  const now = work.context.clock.now();
  if (wasJustAsked(operation, now)) return { stored, by: "row" };
  if (operation.status === "pending") return askWhilePending(work, stored, operation);
  if (operation.status === "needs_review") return askInReview(work, stored, operation);
  if (operation.status === "requires_action") return askCustomersGateway(work, stored, operation);
  const asked = await askWhatBecameOf(work, stored, operation, now);
  return asked.follows === "send again" ? sendAgain(work, stored, operation) : asked.resolved;
}

/** The same for who has to answer a caller: where it cannot go on, the operation is open, as it was read. */
export async function findOrResendIfPossible(
  work: UnderLock,
  stored: StoredPayment,
  operationId: OperationId,
): Promise<Resolved> {
  try {
    return await findOrResend(work, stored, operationId);
  } catch (error) {
    if (error instanceof StoreUnavailableError || error instanceof LockLostError)
      return { stored, by: "row" };
    throw error;
  }
}

/** Whoever is not waited for any more leaves a release behind, and it is sent at once: they may be about to act. */
async function askCustomersGateway(
  work: UnderLock,
  stored: StoredPayment,
  operation: Operation,
): Promise<Resolved> {
  const asked = await askWhileCustomerActs(work, stored, operation);
  const release = openOperationOf(asked.stored.payment);
  return release !== undefined && isRelease(release) ? sendAgain(work, asked.stored, release) : asked;
}

/**
 * Asks about what the gateway has taken and said to decide later. Only asks: whatever the gateway says, or does not say,
 * the key is not sent again.
 */
async function askWhilePending(
  { context, trace }: UnderLock,
  stored: StoredPayment,
  operation: Operation,
): Promise<Resolved> {
  const found = await find(context.gateway, stored.payment, operation);
  const told: EventData = { ...trace, ...gatewayTrace("find", operation, found) };
  const finding = { operationId: operation.id, verdict: found, trace: told };
  return { stored: (await settleOperation(context, stored, finding)) ?? stored, by: "find" };
}

type Asked =
  { readonly follows: "nothing"; readonly resolved: Resolved } | { readonly follows: "send again" };

/** FIND: whether the gateway's own record of the key says what became of it, or keeps it from being sent again. */
async function askWhatBecameOf(
  { context, trace }: UnderLock,
  stored: StoredPayment,
  operation: Operation,
  now: Date,
): Promise<Asked> {
  // A release that was never sent needs no question: there is nothing that the gateway could know of it.
  if (operation.firstSentAt === null) return { follows: "send again" };
  const found = await find(context.gateway, stored.payment, operation);
  // What a release lets go is gone after the first time: sent twice, it moves nothing twice.
  const tooOld = !isRelease(operation) && isForgotten(context, operation, now);
  const verdict = verdictOf(found, tooOld);
  if (verdict === null) return { follows: "send again" };
  const told: EventData = { ...trace, ...gatewayTrace("find", operation, found) };
  const after = await settleOperation(context, stored, { operationId: operation.id, verdict, trace: told });
  return { follows: "nothing", resolved: { stored: after ?? stored, by: "find" } };
}

/** Null: the gateway does not know the key, or does not say, and the key may be sent again. */
function verdictOf(found: FindAnswer, tooOld: boolean): GatewayVerdict | null {
  switch (found.outcome) {
    case "succeeded":
    case "declined":
    case "authorization_gone":
    case "mismatch":
    case "requires_action":
    case "pending":
      return found;
    case "absent":
    case "unknown":
      return tooOld ? { outcome: "unknown", reason: "too old to be sent again under its key" } : null;
  }
}

/** RESEND, under the same key. Claimed first, so that of several processes without a lock one sends. */
async function sendAgain(
  { context, hold, trace }: UnderLock,
  stored: StoredPayment,
  operation: Operation,
): Promise<Resolved> {
  hold.assertHeld();
  const claimed = await claim(context, stored, operation, trace);
  if (claimed === null) {
    // Another process has written the payment meanwhile, and sends it. Nothing was asked here beyond the look before.
    const now = await context.payments.find(stored.payment.facts.id);
    return { stored: now ?? stored, by: "find" };
  }
  const answer = await send(context.gateway, claimed.payment, operation);
  // "Not sent" is the truth about this send only, and says nothing about an earlier one.
  const verdict: GatewayVerdict =
    answer.outcome === "not_sent"
      ? { outcome: "unknown", reason: `resend failed: ${answer.reason}` }
      : answer;
  const told: EventData = { ...trace, ...gatewayTrace(operation.kind, operation, answer) };
  const after = await settleOperation(context, claimed, { operationId: operation.id, verdict, trace: told });
  return { stored: after ?? claimed, by: "resend" };
}

async function claim(
  context: OperationContext,
  { payment, version }: StoredPayment,
  { id }: Operation,
  trace: EventData,
): Promise<StoredPayment | null> {
  try {
    return await context.payments.save(claimResend(payment, id, stepNow(context, trace)), version);
  } catch (error) {
    if (error instanceof VersionConflictError) return null;
    throw error;
  }
}

/** An `askedAt` in the future is ignored: the clock was set back, and it would block questions until it caught up. */
function wasJustAsked({ askedAt }: Operation, now: Date): boolean {
  if (askedAt === null) return false;
  const agoMs = now.getTime() - askedAt.getTime();
  return agoMs > -CLOCK_TOLERANCE_MS && agoMs < MIN_ASK_INTERVAL_MS;
}

/** Whether the gateway may have forgotten the key. A send time far in the future cannot be trusted: it counts as forgotten. */
function isForgotten(context: OperationContext, operation: Operation, now: Date): boolean {
  const { remembersKeysForMs } = context.gateway;
  const sentForMs = now.getTime() - (operation.firstSentAt ?? now).getTime();
  return sentForMs < -FORGETTING_MARGIN_MS || sentForMs >= remembersKeysForMs - FORGETTING_MARGIN_MS;
}
