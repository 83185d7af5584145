import type { OperationId } from "../identifiers";
import type { Currency } from "../money";
import { waitingForCustomer, withoutCustomer } from "./customer/customer-action";
import { PaymentError } from "./errors";
import { expire, expiredError, isLapsed } from "./expiry";
import type { KeyedRequest } from "./facts";
import { progressed, type OperationKind } from "./operation";
import {
  amountCaptured,
  amountRefunded,
  inProgress,
  openOperationOf,
  operationOfKey,
  visibleStatus,
  type Payment,
} from "./payment";
import { newOperation } from "./record/operation-rows";
import { after, recorded, type Change } from "./record/recorded";
import type { Step } from "./step";
import { beginnings, type WrongState } from "./transitions";

/** What comes of a request: an operation that is sent as soon as it is stored, or a refusal. */
export type Decision =
  | Begun
  | {
      readonly outcome: "refused";
      readonly refusal: PaymentError;
      /** What has to be stored before the caller is told; null if nothing has changed. */
      readonly changed: Payment | null;
    };

export interface Begun {
  readonly outcome: "begun";
  readonly payment: Payment;
  readonly operationId: OperationId;
}

/** What is wanted of a capture or a refund; by default all that there is. */
export interface WantedAmount {
  readonly amount?: bigint | undefined;
  readonly currency?: Currency | undefined;
}

/** Decides about a capture in the order of the published table: state, time, amount, currency. */
export function decideCapture(
  payment: Payment,
  request: KeyedRequest,
  wanted: WantedAmount,
  step: Step,
): Decision {
  const wrongState = refusalInState(payment, "capture");
  if (wrongState !== null) return refused(wrongState);
  if (isLapsed(payment, step.now)) return lapsed(payment, expiredError, step);
  const { amount } = payment.facts.amount;
  if (wanted.amount !== undefined && wanted.amount > amount) {
    return refused(new PaymentError("amount_exceeds_authorized", { maxAmount: amount }));
  }
  const movement = { kind: "capture", request, amount: wanted.amount ?? amount } as const;
  return otherCurrency(payment, wanted) ?? begin(payment, movement, step);
}

/**
 * Lets all of the authorized money go. A lapsed authorization goes by itself. One that waits for the customer is not waited
 * for any more.
 */
export function decideVoid(payment: Payment, request: KeyedRequest, step: Step): Decision {
  const waiting = waitingForCustomer(payment);
  const { amount } = payment.facts.amount;
  if (waiting !== undefined) {
    return begun(withoutCustomer(payment, waiting.id, step), { kind: "void", request, amount }, step);
  }
  const wrongState = refusalInState(payment, "void");
  if (wrongState !== null) return refused(wrongState);
  if (isLapsed(payment, step.now)) return lapsed(payment, notVoidable, step);
  return begin(payment, { kind: "void", request, amount }, step);
}

/** Gives captured money back, at most what is left of it. */
export function decideRefund(
  payment: Payment,
  request: KeyedRequest,
  wanted: WantedAmount,
  step: Step,
): Decision {
  const wrongState = refusalInState(payment, "refund");
  if (wrongState !== null) return refused(wrongState);
  const left = amountCaptured(payment) - amountRefunded(payment);
  // A key that was never sent is bound all the same: "all that is left" is what was left when it came first.
  const unsent = operationOfKey(payment, "refund", request.idempotencyKey);
  const amount = unsent?.amount ?? wanted.amount ?? left;
  if (amount > left || left === 0n) {
    return refused(new PaymentError("amount_exceeds_captured", { maxAmount: left }));
  }
  return otherCurrency(payment, wanted) ?? begin(payment, { kind: "refund", request, amount }, step);
}

/** Repeats an authorization that was certainly never sent: its time begins anew, also if it had ended meanwhile. */
export function decideAuthorizeAgain(
  payment: Payment,
  request: KeyedRequest,
  expiresAt: Date,
  step: Step,
): Decision {
  const { amount } = payment.facts.amount;
  const decision = begin(payment, { kind: "authorize", request, amount }, step);
  if (decision.outcome === "refused") return decision;
  const again = { row: null, status: after(payment, "authorize.again"), facts: { expiresAt }, history: [] };
  return { ...decision, payment: recorded(decision.payment, again, step) };
}

interface Movement {
  readonly kind: OperationKind;
  readonly request: KeyedRequest;
  readonly amount: bigint;
}

/** One at a time: a second one would be sent while it is not known what becomes of the first. */
function begin(payment: Payment, movement: Movement, step: Step): Decision {
  const open = openOperationOf(payment);
  return open === undefined ? begun(payment, movement, step) : refused(inProgress(payment, open));
}

/** The key's operation that was never sent, once more and for what it asked for then; else a new one. */
export function begun(payment: Payment, { kind, request, amount }: Movement, step: Step): Begun {
  const operation =
    operationOfKey(payment, kind, request.idempotencyKey) ??
    newOperation(payment, { kind, amount, request }, step);
  const row = progressed(operation, {
    status: "started",
    firstSentAt: step.now,
    askedAt: null,
    // Should this process die before the answer is stored.
    dueAt: step.schedule.nextQuestion(0) ?? step.now,
  });
  const told = { operationId: row.id, amount: Number(row.amount) };
  const change: Change = {
    row,
    status: payment.facts.status,
    history: [[`${kind}.started`, told]],
  };
  return { outcome: "begun", payment: recorded(payment, change, step), operationId: row.id };
}

/** What is under way decides first whether the money was captured or let go; then the authorization goes by itself. */
function lapsed(payment: Payment, refusal: (expired: Payment) => PaymentError, step: Step): Decision {
  const open = openOperationOf(payment);
  if (open !== undefined) return refused(inProgress(payment, open));
  const expired = expire(payment, step);
  return refused(refusal(expired), expired);
}

function notVoidable(payment: Payment): PaymentError {
  return stateError(payment, "payment_not_voidable");
}

function otherCurrency({ facts }: Payment, wanted: WantedAmount): Decision | null {
  const { currency } = facts.amount;
  if (wanted.currency === undefined || wanted.currency === currency) return null;
  return refused(new PaymentError("currency_mismatch", { currency }));
}

function refused(refusal: PaymentError, changed: Payment | null = null): Decision {
  return { outcome: "refused", refusal, changed };
}

function refusalInState(payment: Payment, kind: keyof typeof beginnings): PaymentError | null {
  const verdict = beginnings[kind][payment.facts.status];
  return verdict === "ok" ? null : stateError(payment, verdict);
}

function stateError(payment: Payment, code: WrongState): PaymentError {
  if (code === "payment_expired") return expiredError(payment);
  const paymentStatus = visibleStatus(payment);
  return new PaymentError(code, { paymentId: payment.facts.id, paymentStatus });
}
