import type { PaymentId } from "../../domain/identifiers";
import type { Decision } from "../../domain/payment/decide-movement";
import { PaymentError } from "../../domain/payment/errors";
import type { KeyedRequest } from "../../domain/payment/facts";
import {
  isFinished,
  isOpen,
  isRelease,
  type Operation,
  type OperationKind,
} from "../../domain/payment/operation";
import {
  inProgress,
  openOperationOf,
  operationOf,
  operationOfKey,
  type Payment,
} from "../../domain/payment/payment";
import type { Step } from "../../domain/payment/step";
import { LockContentionError, LockTimeoutError } from "../ports/lock-errors";
import type { LockProvider } from "../ports/lock-provider";
import {
  VersionConflictError,
  type StoredPayment,
  type StoreUnavailableError,
} from "../ports/payment-repository";
import type { Caller } from "./caller";
import { MAX_DECISIONS } from "./retry-on-conflict";
import { isInDoubt, lookAgain } from "./in-doubt";
import { stepNow, underLock, type OperationContext, type UnderLock } from "./operation-context";
import { outcomeOf, type OperationOutcome } from "./operation-outcome";
import { withPaymentLock } from "./payment-lock";
import { findOrResendIfPossible } from "./find-or-resend";
import { sendIntent, type Intent } from "./send-intent";

/** One kind of movement, for one request: all that differs between authorize, capture, void and refund. */
export interface Movement {
  readonly kind: OperationKind;
  readonly paymentId: PaymentId;
  readonly request: KeyedRequest;
  /** Pure: the movement begins, or why it does not. */
  readonly decide: (payment: Payment, step: Step) => Decision;
}

/**
 * Moves money once: look, answer with the key's own outcome if there is one, clear the way, write the intent, send it and
 * settle. All of it under the payment's lock, but for the first look: ids that do not exist leave no lock entries, and a
 * finished key does not wait.
 */
export async function throughGateway(
  locks: LockProvider,
  context: OperationContext,
  movement: Movement,
  caller: Caller,
): Promise<OperationOutcome> {
  const { kind, paymentId } = movement;
  const before = await look(context, movement, caller);
  const finished = finishedOwn(before.payment, movement);
  if (finished !== null) return outcomeOf(before.payment, finished.id, true);
  try {
    return await withPaymentLock(locks, { paymentId, purpose: kind, caller }, (hold) => {
      const visit = { ...underLock(context, hold, caller.actor), movement, caller };
      return hold.waitedFor === undefined ? moveAtFirstSight(visit, before) : move(visit, ALLOWED);
    });
  } catch (error) {
    if (!(error instanceof LockTimeoutError || error instanceof LockContentionError)) throw error;
    return outcomeWithoutLock(context, movement, caller, error);
  }
}

/** One request under the payment's lock. */
interface Visit extends UnderLock {
  readonly movement: Movement;
  readonly caller: Caller;
}

/** What a visit may still do. Each way back to the look uses something up, so that every visit ends. */
interface Allowance {
  /** About what is in the way: a second question would outlast the budget of those who wait for the lock. */
  readonly questions: number;
  /** Each one more than the first means that the payment was written between reading and writing. */
  readonly decisions: number;
  /** For an intent whose answer was lost, and that may be stored. */
  readonly searches: number;
}

const ALLOWED: Allowance = { questions: 1, decisions: MAX_DECISIONS, searches: 1 };

/**
 * Nobody was waited for, so what was seen before the lock is most likely still so, and an intent may be written by it: its
 * version says whether it was. All else that may follow is decided by a look inside.
 */
async function moveAtFirstSight(visit: Visit, before: StoredPayment): Promise<OperationOutcome> {
  const { payment } = before;
  const isClear = openOperationOf(payment) === undefined && ownOperation(payment, visit.movement) === null;
  const decision = isClear ? decide(visit, before) : null;
  if (decision?.outcome !== "begun") return move(visit, ALLOWED);
  return goOn(visit, await writeDecision(visit, before, decision), ALLOWED);
}

async function move(visit: Visit, allowed: Allowance): Promise<OperationOutcome> {
  const seen = await look(visit.context, visit.movement, visit.caller);
  const own = await ownOutcome(visit, seen);
  if (own !== null) return own;

  const way = await clearTheWay(visit, seen, allowed);
  if (way === "look again") return move(visit, { ...allowed, questions: 0 });

  return goOn(visit, await writeDecision(visit, seen, decide(visit, seen)), allowed);
}

function goOn(visit: Visit, written: Written, allowed: Allowance): Promise<OperationOutcome> {
  switch (written.follows) {
    case "send":
      return sendIntent(visit, written.intent);
    case "refuse":
      throw written.refusal;
    case "decide anew":
      if (allowed.decisions <= 1)
        throw new PaymentError("payment_busy", { paymentId: visit.movement.paymentId });
      return move(visit, { ...allowed, decisions: allowed.decisions - 1 });
    case "look for it":
      if (allowed.searches === 0) throw written.doubt;
      return lookAgain(written.doubt, () => move(visit, { ...allowed, searches: 0 }));
  }
}

/** LOOK: the payment, if it is this merchant's. Another's does not exist for them. */
async function look(
  { payments }: OperationContext,
  { paymentId }: Movement,
  { merchant }: Caller,
): Promise<StoredPayment> {
  const stored = await payments.find(paymentId);
  if (stored?.payment.facts.merchant === merchant) return stored;
  throw new PaymentError("payment_not_found", { paymentId });
}

/** OWN OUTCOME: what this key has come to. Null if it is new, or if it certainly never reached the gateway. */
async function ownOutcome(visit: Visit, seen: StoredPayment): Promise<OperationOutcome | null> {
  const own = ownOperation(seen.payment, visit.movement);
  if (own === null) return null;
  if (isFinished(own)) return outcomeOf(seen.payment, own.id, false);
  if (!isOpen(own)) return null;
  const { stored } = await findOrResendIfPossible(visit, seen, own.id);
  return outcomeOf(stored.payment, own.id, false);
}

/**
 * CLEAR THE WAY: another operation is open, so the gateway is asked what became of it. A release is never in it, and neither
 * is a customer who, as the gateway says, has not acted: the movement's own conditions say what that means for it.
 */
async function clearTheWay(
  visit: Visit,
  seen: StoredPayment,
  { questions }: Allowance,
): Promise<"free" | "look again"> {
  const inTheWay = openOperationOf(seen.payment);
  if (inTheWay === undefined || isRelease(inTheWay)) return "free";
  if (questions === 0) {
    if (inTheWay.status === "requires_action") return "free";
    throw inProgress(seen.payment, inTheWay);
  }
  const { stored, by, silent } = await findOrResendIfPossible(visit, seen, inTheWay.id);
  // What was sent again has taken its time, whatever came of it.
  const open = openOperationOf(stored.payment);
  const isWaiting = open?.status === "requires_action";
  // What the gateway did not say just now may have changed: the customer may have confirmed since it was last asked.
  const mayHaveConfirmed = isWaiting && (by === "row" || silent === true);
  if (mayHaveConfirmed && visit.movement.kind === "capture") throw inProgress(stored.payment, open);
  const isFree = (by === "find" && open === undefined) || isWaiting;
  if (!isFree) throw inProgress(stored.payment, operationOf(stored.payment, inTheWay.id) ?? inTheWay);
  return "look again";
}

type Written =
  | { readonly follows: "send"; readonly intent: Intent }
  | { readonly follows: "refuse"; readonly refusal: PaymentError }
  | { readonly follows: "decide anew" }
  | { readonly follows: "look for it"; readonly doubt: StoreUnavailableError };

/** By a clock that is read inside: the wait may have outlived the authorization. */
function decide({ context, movement, trace }: Visit, seen: StoredPayment): Decision {
  return movement.decide(seen.payment, stepNow(context, trace));
}

/** INTENT: stores what was decided. */
async function writeDecision(visit: Visit, seen: StoredPayment, decision: Decision): Promise<Written> {
  if (decision.outcome === "begun") {
    const { payment, operationId } = decision;
    return write(visit, seen, payment, (stored) => ({ follows: "send", intent: { stored, operationId } }));
  }
  const { refusal, changed } = decision;
  // A refusal that changes nothing is true with or without the lock.
  if (changed === null) return { follows: "refuse", refusal };
  return write(visit, seen, changed, () => ({ follows: "refuse", refusal }));
}

async function write(
  { context, hold }: Visit,
  seen: StoredPayment,
  next: Payment,
  then: (stored: StoredPayment) => Written,
): Promise<Written> {
  try {
    hold.assertHeld();
    return then(await context.payments.save(next, seen.version));
  } catch (error) {
    if (error instanceof VersionConflictError) return { follows: "decide anew" };
    // What was lost is found by its key. If it is not there, its version lets only one of both decisions through.
    if (isInDoubt(error)) return { follows: "look for it", doubt: error };
    throw error;
  }
}

/** The wait was too long: the request that was inside may have been one with this very key. */
async function outcomeWithoutLock(
  context: OperationContext,
  movement: Movement,
  caller: Caller,
  timeout: Error,
): Promise<OperationOutcome> {
  const { payment } = await look(context, movement, caller);
  const finished = finishedOwn(payment, movement);
  if (finished !== null) return outcomeOf(payment, finished.id, false);
  const { kind, request } = movement;
  if (operationOfKey(payment, kind, request.idempotencyKey) === undefined) throw timeout;
  throw new PaymentError("idempotency_key_in_use", { kind });
}

function finishedOwn(payment: Payment, { kind, request }: Movement): Operation | null {
  const own = operationOfKey(payment, kind, request.idempotencyKey);
  return own === undefined || !isFinished(own) ? null : assertSameRequest(own, request);
}

/** The operation that this key began, if the request is the one that began it. */
function ownOperation(payment: Payment, { kind, request }: Movement): Operation | null {
  const own = operationOfKey(payment, kind, request.idempotencyKey);
  return own === undefined ? null : assertSameRequest(own, request);
}

function assertSameRequest(own: Operation, { fingerprint }: KeyedRequest): Operation {
  if (own.fingerprint === fingerprint) return own;
  throw new PaymentError("idempotency_key_reused", { kind: own.kind });
}
