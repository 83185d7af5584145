import type { IdempotencyKey, MerchantId, OperationId, PaymentId } from "../../domain/identifiers";
import { parseOperationId, paymentResourceId } from "../../domain/identifiers";
import { isFinished, isOpen, isRelease, type Operation, type OperationKind } from "../../domain/operation";
import type { BeginOperation, Decision, Payment } from "../../domain/payment";
import { PaymentError } from "../../domain/payment-errors";
import type { EventData, Step } from "../../domain/payment-events";
import { LockContentionError, LockLostError, LockTimeoutError } from "../ports/lock-errors";
import type { LockHold } from "../ports/lock-provider";
import type { LockTimeout, ResolvedLockTimeout } from "../ports/lock-timeout";
import { StoreUnavailableError, VersionConflictError, type StoredPayment } from "../ports/payment-repository";
import { gatewayTrace, send } from "./ask-gateway";
import { isInDoubt, lookAgain } from "./in-doubt";
import { lockTrace, stepAt, type OperationContext } from "./operation-context";
import { outcomeOf, type OperationOutcome } from "./operation-outcome";
import { nextDueAt } from "./reconcile-schedule";
import { resolveAsFarAsPossible } from "./resolve-operation";
import { settleOperation } from "./settle-operation";

/** Who asks, and how long they are willing to wait. */
export interface Caller {
  readonly merchant: MerchantId;
  /** May do what looks across merchants. */
  readonly operator?: boolean;
  /** For the payment's history: which key, which request. Never a secret. */
  readonly actor: EventData;
  readonly lockTimeout?: LockTimeout | ResolvedLockTimeout;
  /** Ends the wait for the lock. Once inside, the operation goes on without its caller. */
  readonly signal?: AbortSignal;
}

/** One kind of movement, for one request: all that differs between authorize, capture, void and refund. */
export interface Movement {
  readonly kind: OperationKind;
  readonly paymentId: PaymentId;
  readonly idempotencyKey: IdempotencyKey;
  readonly fingerprint: string;
  /** Pure: the next payment, or a refusal. `dueAt` is when the reconciler takes over from a caller that dies. */
  decide(payment: Payment, begin: BeginOperation, dueAt: Date, step: Step): Decision;
}

/** How often a decision is made anew because somebody else wrote the payment between reading and writing. */
const MAX_DECISIONS = 3;

/** Reads before the lock, so that random ids leave no lock entries and finished keys do not wait; then goes inside. */
export async function throughGateway(
  context: OperationContext,
  movement: Movement,
  caller: Caller,
): Promise<OperationOutcome> {
  const before = await existing(context, movement, caller);
  const finished = finishedOperation(before.payment, movement);
  if (finished !== undefined) return outcomeOf(before.payment, finished.id, true);
  try {
    return await context.locks.withLock(
      paymentResourceId(movement.paymentId),
      (hold) => decideAndSend(context, movement, caller, hold),
      {
        scope: "payment",
        purpose: movement.kind,
        ...(caller.lockTimeout === undefined ? {} : { timeout: caller.lockTimeout }),
        ...(caller.signal === undefined ? {} : { signal: caller.signal }),
      },
    );
  } catch (error) {
    if (error instanceof LockTimeoutError || error instanceof LockContentionError) {
      return answerWithoutLock(context, movement, caller, error);
    }
    throw error;
  }
}

/** The budget ran out: whoever is inside may have been at this very key. */
async function answerWithoutLock(
  context: OperationContext,
  movement: Movement,
  caller: Caller,
  timeout: Error,
): Promise<OperationOutcome> {
  const { payment } = await existing(context, movement, caller);
  const finished = finishedOperation(payment, movement);
  if (finished !== undefined) return outcomeOf(payment, finished.id, false);
  if (payment.operationOfKey(movement.kind, movement.idempotencyKey) === undefined) throw timeout;
  throw new PaymentError("idempotency_key_in_use", { kind: movement.kind });
}

async function decideAndSend(
  context: OperationContext,
  movement: Movement,
  caller: Caller,
  hold: LockHold,
  isSecondLook = false,
): Promise<OperationOutcome> {
  const trace: EventData = { by: caller.actor, ...lockTrace(hold) };
  let decisions = 0;
  let asked = false;
  while (decisions < MAX_DECISIONS) {
    // Inside, and not before: the wait may have outlived the authorization.
    const now = context.clock.now();
    const stored = await existing(context, movement, caller);
    const { payment } = stored;

    const own = payment.operationOfKey(movement.kind, movement.idempotencyKey);
    if (own !== undefined) {
      assertSameRequest(own, movement);
      if (isFinished(own)) return outcomeOf(payment, own.id, false);
      if (isOpen(own)) {
        const resolved = await resolveAsFarAsPossible(context, stored, own.id, hold, trace);
        return outcomeOf(resolved.stored.payment, own.id, false);
      }
    }

    const inTheWay = payment.openOperation;
    if (inTheWay !== undefined && !isRelease(inTheWay)) {
      // One question to the gateway a hold: a second one would outlast the budget of those who wait.
      if (asked) throw payment.inProgress(inTheWay);
      asked = true;
      const { stored: after, by } = await resolveAsFarAsPossible(context, stored, inTheWay.id, hold, trace);
      if (by !== "find" || after.payment.openOperation !== undefined) throw payment.inProgress(inTheWay);
      continue;
    }

    const decision = movement.decide(
      payment,
      beginning(context, movement),
      dueAfter(context, now),
      stepAt(context, now, trace),
    );
    let intent = stored;
    try {
      // A refusal that changes nothing is true with or without the lock.
      if (decision.payment !== payment) {
        hold.assertHeld();
        intent = await context.payments.save(decision.payment, stored.version);
      }
    } catch (error) {
      // What was lost is found by its key. If it is not there, its version lets only one of both decisions through.
      if (isInDoubt(error) && !isSecondLook)
        return lookAgain(error, () => decideAndSend(context, movement, caller, hold, true));
      if (!(error instanceof VersionConflictError)) throw error;
      decisions += 1;
      continue;
    }
    if (decision.refusal !== undefined) throw decision.refusal;
    if (decision.operationId === undefined) throw new Error(`${movement.kind} was neither begun nor refused`);
    return sendIntent(context, intent, decision.operationId, hold, trace);
  }
  throw new PaymentError("payment_busy", { paymentId: movement.paymentId });
}

/** SEND: the intent is stored; from here the operation goes on whatever becomes of its caller. */
export async function sendIntent(
  context: OperationContext,
  intent: StoredPayment,
  operationId: OperationId,
  hold: LockHold,
  trace: EventData,
): Promise<OperationOutcome> {
  const operation = intent.payment.operation(operationId);
  if (operation === undefined)
    throw new Error(`payment ${intent.payment.id} has no operation ${operationId}`);
  try {
    hold.assertHeld();
  } catch (error) {
    if (!(error instanceof LockLostError)) throw error;
    const closed = await closeUnsent(context, intent, operationId, error.message, trace);
    if (closed.payment.operation(operationId)?.status === "not_sent") throw error;
    return outcomeOf(closed.payment, operationId, false);
  }
  const answer = await send(context.gateway, intent.payment, operation);
  const sent: EventData = { ...trace, ...gatewayTrace(operation.kind, operation, answer) };
  const after =
    answer.outcome === "not_sent"
      ? await closeUnsent(context, intent, operationId, answer.reason, sent)
      : ((await settleOperation(context, intent, operationId, answer, sent)) ?? intent);
  return outcomeOf(after.payment, operationId, false);
}

/**
 * Only whoever wrote the intent may say that it was not sent, and only while nobody has touched it since: a resolver
 * may have sent it in the meantime.
 */
async function closeUnsent(
  context: OperationContext,
  intent: StoredPayment,
  operationId: OperationId,
  reason: string,
  trace: EventData,
): Promise<StoredPayment> {
  try {
    const closed = intent.payment.notSent(operationId, reason, stepAt(context, context.clock.now(), trace));
    try {
      return await context.payments.save(closed, intent.version);
    } catch (error) {
      if (!(error instanceof VersionConflictError)) throw error;
      return (await context.payments.find(intent.payment.id)) ?? intent;
    }
  } catch (error) {
    // The store fails: the intent stands, and is due. Whoever finds it sends it.
    if (error instanceof StoreUnavailableError) return intent;
    throw error;
  }
}

/** The payment, if it is this merchant's. Another's does not exist for them. */
async function existing(
  context: OperationContext,
  movement: Movement,
  caller: Caller,
): Promise<StoredPayment> {
  const stored = await context.payments.find(movement.paymentId);
  if (stored?.payment.facts.merchant !== caller.merchant) {
    throw new PaymentError("payment_not_found", { paymentId: movement.paymentId });
  }
  return stored;
}

function finishedOperation(payment: Payment, movement: Movement): Operation | undefined {
  const own = payment.operationOfKey(movement.kind, movement.idempotencyKey);
  if (own === undefined || !isFinished(own)) return undefined;
  assertSameRequest(own, movement);
  return own;
}

function assertSameRequest(own: Operation, movement: Movement): void {
  if (own.fingerprint !== movement.fingerprint) {
    throw new PaymentError("idempotency_key_reused", { kind: movement.kind });
  }
}

export function beginning(context: OperationContext, movement: Omit<Movement, "decide">): BeginOperation {
  return {
    operationId: parseOperationId(context.ids.nextId()),
    idempotencyKey: movement.idempotencyKey,
    fingerprint: movement.fingerprint,
  };
}

/** The first look of the reconciler, should this process die now. */
export function dueAfter(context: OperationContext, now: Date): Date {
  return nextDueAt(now, 0, context.random) ?? now;
}
