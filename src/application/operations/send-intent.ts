import type { OperationId } from "../../domain/identifiers";
import type { EventData } from "../../domain/payment/events";
import { PaymentError } from "../../domain/payment/errors";
import { operationOf } from "../../domain/payment/payment";
import { notSent } from "../../domain/payment/waiting";
import { LockLostError } from "../ports/lock-errors";
import { StoreUnavailableError, VersionConflictError, type StoredPayment } from "../ports/payment-repository";
import { gatewayTrace, send } from "./ask-gateway";
import { isInDoubt, lookAgain } from "./in-doubt";
import { stepNow, type OperationContext, type UnderLock } from "./operation-context";
import { outcomeOf, type OperationOutcome } from "./operation-outcome";
import { settleOperation } from "./settle-operation";

/** An operation that has begun, as it is stored: from here it goes on whatever becomes of its caller. */
export interface Intent {
  readonly stored: StoredPayment;
  readonly operationId: OperationId;
}

/** SEND, and SETTLE by what the gateway answers. */
export async function sendIntent(work: UnderLock, intent: Intent): Promise<OperationOutcome> {
  const { context, hold, trace } = work;
  const { operationId } = intent;
  const { payment } = intent.stored;
  const operation = operationOf(payment, operationId);
  if (operation === undefined) throw new Error(`payment ${payment.facts.id} has no operation ${operationId}`);
  try {
    hold.assertHeld();
  } catch (lost) {
    return withoutLock(context, intent, lost, trace);
  }
  const answer = await send(context.gateway, payment, operation);
  const told = { ...trace, ...gatewayTrace(operation.kind, operation, answer) };
  const isUnsent = answer.outcome === "not_sent";
  const after = isUnsent
    ? await closeUnsent(context, intent, answer.reason, told)
    : await settleOperation(context, intent.stored, { operationId, verdict: answer, trace: told });
  const now = (after ?? intent.stored).payment;
  if (isUnsent && answer.refused === true && operationOf(now, operationId)?.status === "not_sent") {
    throw new PaymentError("gateway_access_refused", { paymentId: now.facts.id, reason: answer.reason });
  }
  return outcomeOf(now, operationId, false);
}

/** The lock was lost before the send: nothing was sent, unless another process has taken the intent up meanwhile. */
async function withoutLock(
  context: OperationContext,
  intent: Intent,
  lost: unknown,
  trace: EventData,
): Promise<OperationOutcome> {
  if (!(lost instanceof LockLostError)) throw lost;
  const { payment } = await closeUnsent(context, intent, lost.message, trace);
  if (operationOf(payment, intent.operationId)?.status === "not_sent") throw lost;
  return outcomeOf(payment, intent.operationId, false);
}

/**
 * Only the process that wrote the intent may say that it was not sent, and only while it is as it was written: a resolver
 * may have sent it in the meantime.
 */
async function closeUnsent(
  context: OperationContext,
  { stored, operationId }: Intent,
  reason: string,
  trace: EventData,
): Promise<StoredPayment> {
  const { payments } = context;
  try {
    const closed = notSent(stored.payment, operationId, reason, stepNow(context, trace));
    return await payments.save(closed, stored.version);
  } catch (error) {
    if (error instanceof VersionConflictError) return asItIsNow(context, stored);
    if (isInDoubt(error)) return lookAgain(error, () => asWrittenSince(context, stored, error));
    // Certainly not written: the intent stands, and is due. The next process that finds it sends it.
    if (error instanceof StoreUnavailableError) return stored;
    throw error;
  }
}

/** It may be closed, and then nobody carries it out: that it is open is no answer before it is known. */
async function asWrittenSince(
  { payments }: OperationContext,
  { payment, version }: StoredPayment,
  doubt: StoreUnavailableError,
): Promise<StoredPayment> {
  const now = await payments.find(payment.facts.id);
  // What is not there may still be on its way.
  if (now === null || now.version === version) throw doubt;
  return now;
}

/** As it was read, where the store cannot tell more. */
async function asItIsNow({ payments }: OperationContext, read: StoredPayment): Promise<StoredPayment> {
  try {
    return (await payments.find(read.payment.facts.id)) ?? read;
  } catch (error) {
    if (error instanceof StoreUnavailableError) return read;
    throw error;
  }
}
