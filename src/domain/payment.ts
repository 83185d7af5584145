import type { OperationId } from "./identifiers";
import type { Currency } from "./money";
import { isRelease, progressed, type Operation, type OperationKind } from "./operation";
import { PaymentError, type PaymentErrorCode } from "./payment-errors";
import type { PaymentEvent, Step } from "./payment-events";
import type {
  BeginOperation,
  GatewayStatement,
  PaymentFacts,
  ReviewVerdict,
  SettledAnswer,
} from "./payment-facts";
import { observe } from "./payment-observation";
import { PaymentRecord } from "./payment-record";
import { resolveReview, stillInReview } from "./payment-review";
import { asSucceeded, broughtToReview, settle, unappliable } from "./payment-settlement";
import { beginnings } from "./payment-transitions";

export type { BeginOperation, PaymentFacts, SettledAnswer } from "./payment-facts";

/** The next payment; with a refusal, what has to be stored before the caller is told. */
export interface Decision {
  readonly payment: Payment;
  readonly operationId?: OperationId;
  readonly refusal?: PaymentError;
}

/** What is wanted of a capture or a refund; by default all that there is. */
export interface WantedAmount {
  readonly amount?: bigint;
  readonly currency?: Currency;
}

type WantedPayment = Pick<
  PaymentFacts,
  "id" | "merchant" | "amount" | "paymentMethod" | "reference" | "metadata" | "expiresAt"
>;

/**
 * A payment with its operations. Immutable: each step returns the next payment, with the events that tell of the step,
 * or throws. It decides; it does not know what the time is, who holds a lock or what the gateway does.
 */
export class Payment extends PaymentRecord {
  static restore(facts: PaymentFacts): Payment {
    return new Payment(facts, []);
  }

  static beginAuthorize(wanted: WantedPayment, begin: BeginOperation, dueAt: Date, step: Step): Payment {
    return blank(wanted, step).withStarted("authorize", begin, wanted.amount.amount, dueAt, step);
  }

  /** An authorization that was made elsewhere and that the gateway has told us of: there is nothing to send. */
  static importAuthorization(
    wanted: WantedPayment,
    authorizationReference: string,
    begin: BeginOperation,
    step: Step,
  ): Payment {
    const payment = blank(wanted, step);
    const operation: Operation = {
      ...payment.blankOperation(begin.operationId, "authorize", wanted.amount.amount, step.now),
      idempotencyKey: begin.idempotencyKey,
      fingerprint: begin.fingerprint,
    };
    return payment
      .withOperation(asSucceeded(payment, operation, authorizationReference, step), step)
      .moved("authorize.succeeded", step)
      .changed({ authorizedAt: step.now, authorizationReference })
      .withEvent("payment.authorized", step, {
        operationId: begin.operationId,
        imported: authorizationReference,
        expiresAt: wanted.expiresAt.toISOString(),
      });
  }

  protected next(facts: PaymentFacts, newEvents: readonly PaymentEvent[]): this {
    return new Payment(facts, newEvents) as this;
  }

  // ---- beginning -------------------------------------------------------------------------------------------------

  /** Decides about a capture in the order of the published table: state, time, amount, currency. */
  decideCapture(
    begin: BeginOperation,
    wanted: WantedAmount,
    releaseId: OperationId,
    dueAt: Date,
    step: Step,
  ): Decision {
    const refusal = this.refusalToBegin("capture");
    if (refusal !== undefined) return { payment: this, refusal };
    if (this.isLapsed(step.now)) {
      return { payment: this.expire(releaseId, step), refusal: this.expiredError() };
    }
    const { amount } = this.facts.amount;
    if (wanted.amount !== undefined && wanted.amount > amount) {
      return this.refused(new PaymentError("amount_exceeds_authorized", { maxAmount: amount }));
    }
    return this.otherCurrency(wanted) ?? this.begun("capture", begin, wanted.amount ?? amount, dueAt, step);
  }

  /** Lets all of the authorized money go. A lapsed authorization goes by itself. */
  decideVoid(begin: BeginOperation, releaseId: OperationId, dueAt: Date, step: Step): Decision {
    const refusal = this.refusalToBegin("void");
    if (refusal !== undefined) return { payment: this, refusal };
    if (this.isLapsed(step.now)) {
      const payment = this.expire(releaseId, step);
      return { payment, refusal: payment.refusalToBegin("void") as PaymentError };
    }
    return this.begun("void", begin, this.facts.amount.amount, dueAt, step);
  }

  /** Gives captured money back, at most what is left of it. */
  decideRefund(begin: BeginOperation, wanted: WantedAmount, dueAt: Date, step: Step): Decision {
    const refusal = this.refusalToBegin("refund");
    if (refusal !== undefined) return { payment: this, refusal };
    const left = this.amountCaptured - this.amountRefunded;
    // A key that was never sent is bound all the same: "all that is left" is what was left when it came first.
    const unsent = this.operationOfKey("refund", begin.idempotencyKey);
    const amount = unsent?.amount ?? wanted.amount ?? left;
    if (amount > left || left === 0n) {
      return this.refused(new PaymentError("amount_exceeds_captured", { maxAmount: left }));
    }
    return this.otherCurrency(wanted) ?? this.begun("refund", begin, amount, dueAt, step);
  }

  /** Repeats an authorization that was certainly never sent: its time begins anew, also if it had ended meanwhile. */
  decideAuthorizeAgain(begin: BeginOperation, expiresAt: Date, dueAt: Date, step: Step): Decision {
    const { payment, ...begun } = this.begun("authorize", begin, this.facts.amount.amount, dueAt, step);
    return { ...begun, payment: payment.moved("authorize.again", step).changed({ expiresAt }) };
  }

  /** The clock alone ends an authorization: `expiresAt` itself is already too late. */
  isLapsed(now: Date): boolean {
    const { status, expiresAt } = this.facts;
    return (status === "authorized" || status === "authorizing") && now.getTime() >= expiresAt.getTime();
  }

  /** Lets a lapsed authorization go, and owes the gateway the release of the reserved money, if there can be any. */
  expire(releaseId: OperationId, step: Step): Payment {
    if (this.openOperation !== undefined) throw this.inProgress(this.openOperation);
    const expired = this.moved("authorization.lapsed", step).withEvent("payment.expired", step, {
      expiresAt: this.facts.expiresAt.toISOString(),
    });
    return this.facts.status === "authorized" ? expired.withRelease(releaseId, step) : expired;
  }

  // ---- while it is open ------------------------------------------------------------------------------------------

  /**
   * Claims an open operation for one resend of its gateway key. It stays as due as it was, should the resend crash.
   * Told in the history where it was due: not each time that a caller is impatient.
   */
  claimResend(id: OperationId, isDue: boolean, step: Step): Payment {
    const operation = this.mustBeOpen(id);
    const claimed = progressed(operation, { firstSentAt: operation.firstSentAt ?? step.now });
    if (!isDue) return this.withOperation(claimed, step);
    return this.withOperation(claimed, step).withEvent(`${operation.kind}.resent`, step, {
      operationId: id,
      n: operation.n,
    });
  }

  /**
   * The gateway was asked, or sent to, and its answer settles nothing. Told in the history the first time, and when a step
   * of the schedule was used up: so there are as many entries as the schedule has steps.
   */
  stillUnknown(
    id: OperationId,
    next: { readonly dueAt: Date; readonly attempts: number },
    reason: string,
    step: Step,
  ): Payment {
    const operation = this.mustBeOpen(id);
    const changed = progressed(operation, { ...next, status: "unknown", askedAt: step.now });
    const isNews = operation.status !== "unknown" || next.attempts !== operation.attempts;
    if (!isNews) return this.withOperation(changed, step);
    return this.withOperation(changed, step).withEvent(`${operation.kind}.unknown`, step, {
      operationId: id,
      reason,
      dueAt: next.dueAt.toISOString(),
    });
  }

  /** The first send certainly did not reach the gateway: the operation is closed, and its key may try again. */
  notSent(id: OperationId, reason: string, step: Step): Payment {
    const operation = this.mustBeOpen(id);
    if (isRelease(operation)) throw new Error(`release ${id} is owed, whatever became of a send`);
    const changed = progressed(operation, { status: "not_sent", firstSentAt: null, dueAt: null });
    return this.withOperation(changed, step).withEvent(`${operation.kind}.not_sent`, step, {
      operationId: id,
      reason,
    });
  }

  /** Nobody can tell, so a person has to look. Counts as open until one decides, or the gateway tells after all. */
  needsReview(id: OperationId, reason: string, dueAt: Date, step: Step, gatewayReference?: string): Payment {
    return broughtToReview<Payment>(this, this.mustBeOpen(id), { reason, dueAt, gatewayReference }, step);
  }

  /** The gateway was asked about what is in review, and its answer ends nothing. Told only if it shows something new. */
  stillInReview(
    id: OperationId,
    next: { readonly dueAt: Date; readonly attempts: number },
    news: string | null,
    step: Step,
  ): Payment {
    return stillInReview<Payment>(this, id, next, news, step);
  }

  // ---- ending ----------------------------------------------------------------------------------------------------

  settle(
    id: OperationId,
    answer: SettledAnswer,
    releaseId: OperationId,
    releaseDueAt: Date | null,
    step: Step,
  ): Payment {
    return settle<Payment>(this, id, answer, releaseId, releaseDueAt, step);
  }

  /** What the gateway answered cannot be recorded: a person has to see it. */
  unappliable(id: OperationId, answer: SettledAnswer, why: string, step: Step): Payment {
    return unappliable<Payment>(this, id, answer, why, step);
  }

  /** `seen` is what the gateway said about it just now; `dueAt` is when it is asked next if that is not decided yet. */
  resolveReview(
    id: OperationId,
    verdict: ReviewVerdict,
    seen: GatewayStatement,
    dueAt: Date,
    step: Step,
  ): Payment {
    return resolveReview<Payment>(this, id, verdict, seen, dueAt, step);
  }

  /** `seen` is what the gateway says about an operation that has ended. */
  observe(id: OperationId, seen: GatewayStatement, step: Step): Payment {
    return observe<Payment>(this, id, seen, step);
  }

  // ----------------------------------------------------------------------------------------------------------------

  /** The key's operation that was never sent, once more and for what it asked for then; else a new one. */
  private begun(
    kind: OperationKind,
    begin: BeginOperation,
    amount: bigint,
    dueAt: Date,
    step: Step,
  ): Decision {
    // One at a time: a second one would be sent while nobody knows what becomes of the first.
    if (this.openOperation !== undefined) throw this.inProgress(this.openOperation);
    const unsent = this.operationOfKey(kind, begin.idempotencyKey);
    if (unsent === undefined) {
      return {
        payment: this.withStarted(kind, begin, amount, dueAt, step),
        operationId: begin.operationId,
      };
    }
    const again = progressed(unsent, { status: "started", firstSentAt: step.now, askedAt: null, dueAt });
    const payment = this.withOperation(again, step).withEvent(`${kind}.started`, step, {
      operationId: unsent.id,
      amount: Number(unsent.amount),
    });
    return { payment, operationId: unsent.id };
  }

  private withStarted(
    kind: OperationKind,
    begin: BeginOperation,
    amount: bigint,
    dueAt: Date,
    step: Step,
  ): Payment {
    const operation: Operation = {
      ...this.blankOperation(begin.operationId, kind, amount, step.now),
      idempotencyKey: begin.idempotencyKey,
      fingerprint: begin.fingerprint,
      firstSentAt: step.now,
      dueAt,
    };
    return this.withOperation(operation, step).withEvent(`${kind}.started`, step, {
      operationId: begin.operationId,
      amount: Number(amount),
    });
  }

  private otherCurrency(wanted: WantedAmount): Decision | undefined {
    const { currency } = this;
    if (wanted.currency === undefined || wanted.currency === currency) return undefined;
    return this.refused(new PaymentError("currency_mismatch", { currency }));
  }

  private refused(refusal: PaymentError): Decision {
    return { payment: this, refusal };
  }

  private refusalToBegin(kind: "capture" | "void" | "refund"): PaymentError | undefined {
    const verdict = beginnings[kind][this.facts.status];
    return verdict === "ok" ? undefined : this.stateError(verdict);
  }

  private stateError(code: PaymentErrorCode): PaymentError {
    if (code === "payment_expired") return this.expiredError();
    const paymentStatus = this.facts.status;
    return new PaymentError(code as "payment_not_capturable", { paymentId: this.id, paymentStatus });
  }

  private expiredError(): PaymentError {
    return new PaymentError("payment_expired", { paymentId: this.id, expiresAt: this.facts.expiresAt });
  }
}

function blank(wanted: WantedPayment, step: Step): Payment {
  return Payment.restore({
    ...wanted,
    status: "authorizing",
    authorizationReference: null,
    createdAt: step.now,
    authorizedAt: null,
    updatedAt: step.now,
    operations: [],
    eventCount: 0,
  });
}
