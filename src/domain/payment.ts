import type { IdempotencyKey, MerchantId, OperationId, PaymentId } from "./identifiers";
import type { Currency, Money } from "./money";
import { isFinished, isOpen, isRelease, type Operation, type OperationKind } from "./operation";
import { PaymentError, type OperationFailureCode, type PaymentErrorCode } from "./payment-errors";
import type { EventData, PaymentEvent, PaymentEventType, Step } from "./payment-events";
import {
  beginnings,
  paymentTransitions,
  type PaymentStatus,
  type PaymentTransition,
} from "./payment-transitions";

/** Everything that is stored of a payment. */
export interface PaymentFacts {
  readonly id: PaymentId;
  readonly merchant: MerchantId;
  readonly status: PaymentStatus;
  /** What was, or is to be, authorized. */
  readonly amount: Money;
  readonly paymentMethod: string;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** What the gateway calls the authorization. */
  readonly authorizationReference: string | null;
  readonly createdAt: Date;
  readonly authorizedAt: Date | null;
  readonly expiresAt: Date;
  readonly updatedAt: Date;
  /** In the order in which they began. */
  readonly operations: readonly Operation[];
  /** How many events there are, those not yet stored included. */
  readonly eventCount: number;
}

/** What a caller sees as the status: the open operation, if there is one, else what is stored. */
export type VisibleStatus = PaymentStatus | "capturing" | "voiding" | "refunding";

export interface BeginOperation {
  readonly operationId: OperationId;
  readonly idempotencyKey: IdempotencyKey;
  readonly fingerprint: string;
}

/** What the gateway, or a person with evidence, says became of an operation. */
export type SettledAnswer =
  | { readonly outcome: "succeeded"; readonly reference: string | null }
  | { readonly outcome: "declined" | "authorization_gone"; readonly reason: string };

/** The next payment; with a refusal, what has to be stored before the caller is told. */
export interface Decision {
  readonly payment: Payment;
  readonly operationId?: OperationId;
  readonly refusal?: PaymentError;
}

const declinedCodes: Record<OperationKind, OperationFailureCode> = {
  authorize: "authorization_declined",
  capture: "capture_declined",
  void: "void_declined",
  refund: "refund_declined",
};

const statusAfter: Record<OperationKind, PaymentStatus> = {
  authorize: "authorized",
  capture: "captured",
  void: "voided",
  refund: "captured",
};

const inProgressCodes = {
  authorize: "authorize_in_progress",
  capture: "capture_in_progress",
  void: "void_in_progress",
  refund: "refund_in_progress",
} as const;

/**
 * A payment with its operations. Immutable: each step returns the next payment, with the events that tell of the step,
 * or throws. It decides; it does not know what the time is, who holds a lock or what the gateway does.
 */
export class Payment {
  private constructor(
    readonly facts: PaymentFacts,
    /** What happened since it was read; stored together with it. */
    readonly newEvents: readonly PaymentEvent[],
  ) {}

  static restore(facts: PaymentFacts): Payment {
    return new Payment(facts, []);
  }

  static beginAuthorize(
    wanted: Pick<
      PaymentFacts,
      "id" | "merchant" | "amount" | "paymentMethod" | "reference" | "metadata" | "expiresAt"
    >,
    begin: BeginOperation,
    dueAt: Date,
    step: Step,
  ): Payment {
    const facts: PaymentFacts = {
      ...wanted,
      status: "authorizing",
      authorizationReference: null,
      createdAt: step.now,
      authorizedAt: null,
      updatedAt: step.now,
      operations: [],
      eventCount: 0,
    };
    return new Payment(facts, []).withStarted("authorize", begin, wanted.amount.amount, dueAt, step);
  }

  /** The payment as it is once its events are stored. */
  stored(): Payment {
    return new Payment(this.facts, []);
  }

  get id(): PaymentId {
    return this.facts.id;
  }

  get currency(): Currency {
    return this.facts.amount.currency;
  }

  get openOperation(): Operation | undefined {
    return this.facts.operations.find(isOpen);
  }

  get visibleStatus(): VisibleStatus {
    const open = this.openOperation;
    if (open === undefined || isRelease(open) || open.kind === "authorize") return this.facts.status;
    return open.kind === "capture" ? "capturing" : open.kind === "void" ? "voiding" : "refunding";
  }

  get amountCaptured(): bigint {
    return this.succeededTotal("capture");
  }

  get amountRefunded(): bigint {
    return this.succeededTotal("refund");
  }

  get amountCapturable(): bigint {
    return this.visibleStatus === "authorized" ? this.facts.amount.amount : 0n;
  }

  operation(id: OperationId): Operation | undefined {
    return this.facts.operations.find((operation) => operation.id === id);
  }

  operationOfKey(kind: OperationKind, key: IdempotencyKey): Operation | undefined {
    return this.facts.operations.find(
      (operation) => operation.kind === kind && operation.idempotencyKey === key,
    );
  }

  /** The error that another request meets while this operation is open. */
  inProgress(operation: Operation): PaymentError {
    return new PaymentError(inProgressCodes[operation.kind], { paymentId: this.id });
  }

  /** What was answered when this operation succeeded, whatever has happened to the payment since. */
  asItWasAfter(operation: Operation): Payment {
    const { settledAt } = operation;
    if (settledAt === null) return this;
    const then = this.facts.operations.filter(
      (other) =>
        other.settledAt !== null && other.settledAt <= settledAt && !this.beganAfter(other, operation),
    );
    const status = statusAfter[operation.kind];
    return new Payment({ ...this.facts, operations: then, status, updatedAt: settledAt }, []);
  }

  // ---- beginning -------------------------------------------------------------------------------------------------

  /** Decides about a capture in the order of the published table: state, time, amount, currency. */
  decideCapture(
    begin: BeginOperation,
    wanted: { readonly amount?: bigint; readonly currency?: Currency },
    releaseId: OperationId,
    dueAt: Date,
    step: Step,
  ): Decision {
    const refusal = this.refusalToBegin("capture");
    if (refusal !== undefined) return { payment: this, refusal };
    if (this.isLapsed(step.now)) {
      return { payment: this.expire(releaseId, step), refusal: this.expiredError() };
    }
    const { amount, currency } = this.facts.amount;
    if (wanted.amount !== undefined && wanted.amount > amount) {
      return { payment: this, refusal: new PaymentError("amount_exceeds_authorized", { maxAmount: amount }) };
    }
    if (wanted.currency !== undefined && wanted.currency !== currency) {
      return { payment: this, refusal: new PaymentError("currency_mismatch", { currency }) };
    }
    return this.begun("capture", begin, wanted.amount ?? amount, dueAt, step);
  }

  /** Repeats an authorization whose first send certainly never reached the gateway. */
  decideAuthorizeAgain(begin: BeginOperation, dueAt: Date, step: Step): Decision {
    return this.begun("authorize", begin, this.facts.amount.amount, dueAt, step);
  }

  /** The clock alone ends an authorization: `expiresAt` itself is already too late. */
  isLapsed(now: Date): boolean {
    return this.facts.status === "authorized" && now.getTime() >= this.facts.expiresAt.getTime();
  }

  /** Lets a lapsed authorization go, and owes the gateway the release of the reserved money. */
  expire(releaseId: OperationId, step: Step): Payment {
    if (this.openOperation !== undefined) throw this.inProgress(this.openOperation);
    return this.moved("authorization.lapsed", step)
      .withEvent("payment.expired", step, { expiresAt: this.facts.expiresAt.toISOString() })
      .withRelease(releaseId, step);
  }

  // ---- while it is open ------------------------------------------------------------------------------------------

  /** Claims an open operation for one resend of its gateway key. It stays as due as it was, should the resend crash. */
  claimResend(id: OperationId, step: Step): Payment {
    const operation = this.mustBeOpen(id);
    const claimed: Operation = { ...operation, firstSentAt: operation.firstSentAt ?? step.now };
    return this.withOperation(claimed, step).withEvent(`${operation.kind}.resent`, step, {
      operationId: id,
      n: operation.n,
    });
  }

  /** The gateway was asked, or sent to, and its answer settles nothing. */
  stillUnknown(
    id: OperationId,
    next: { readonly dueAt: Date; readonly attempts: number },
    reason: string,
    step: Step,
  ): Payment {
    const operation = this.mustBeOpen(id);
    const changed: Operation = { ...operation, ...next, status: "unknown", askedAt: step.now };
    return this.withOperation(changed, step).withEvent(`${operation.kind}.unknown`, step, {
      operationId: id,
      reason,
      dueAt: next.dueAt.toISOString(),
    });
  }

  /** The first send certainly did not reach the gateway: the operation is closed, and its key may try again. */
  notSent(id: OperationId, reason: string, step: Step): Payment {
    const operation = this.mustBeOpen(id);
    const changed: Operation = { ...operation, status: "not_sent", firstSentAt: null, dueAt: null };
    return this.withOperation(changed, step).withEvent(`${operation.kind}.not_sent`, step, {
      operationId: id,
      reason,
    });
  }

  /** Nothing more can be done without a person. Counts as open until one decides. */
  needsReview(id: OperationId, reason: string, step: Step): Payment {
    const operation = this.mustBeOpen(id);
    const changed: Operation = { ...operation, status: "needs_review", dueAt: null };
    return this.withOperation(changed, step).withEvent("operation.needs_review", step, {
      operationId: id,
      kind: operation.kind,
      reason,
    });
  }

  // ---- ending ----------------------------------------------------------------------------------------------------

  /**
   * Applies an answer recorded for the operation's key. A finished operation stays as it is: the same answer again
   * changes nothing, another one is a contradiction that a person has to look at.
   */
  settle(
    id: OperationId,
    answer: SettledAnswer,
    releaseId: OperationId,
    releaseDueAt: Date,
    step: Step,
  ): Payment {
    const operation = this.must(id);
    if (isFinished(operation)) return this.contradicted(operation, answer, step);
    // Two answers have been recorded already; a third one cannot decide between them.
    if (operation.conflicted) return this;
    if (isRelease(operation)) return this.settleRelease(operation, answer, releaseDueAt, step);
    if (answer.outcome === "succeeded") {
      return this.succeeded(operation, answer.reference, step).withPendingReview(step);
    }
    return this.failed(operation, answer, releaseId, step).withPendingReview(step);
  }

  private succeeded(operation: Operation, reference: string | null, step: Step): Payment {
    const settled = this.withOperation(
      {
        ...operation,
        status: "succeeded",
        gatewayReference: reference,
        askedAt: step.now,
        dueAt: null,
        settledAt: step.now,
      },
      step,
    )
      .withEvent(`${operation.kind}.succeeded`, step, {
        operationId: operation.id,
        amount: Number(operation.amount),
      })
      .moved(`${operation.kind}.succeeded`, step);
    switch (operation.kind) {
      case "authorize":
        return settled
          .changed({ authorizedAt: step.now, authorizationReference: reference })
          .withEvent("payment.authorized", step, { expiresAt: this.facts.expiresAt.toISOString() });
      case "capture":
        return settled.withEvent("payment.captured", step, { amount: Number(operation.amount) });
      case "void":
        return settled.withEvent("payment.voided", step, {});
      case "refund":
        return settled;
    }
  }

  private failed(
    operation: Operation,
    answer: Exclude<SettledAnswer, { outcome: "succeeded" }>,
    releaseId: OperationId,
    step: Step,
  ): Payment {
    const gone =
      answer.outcome === "authorization_gone" && (operation.kind === "capture" || operation.kind === "void");
    const failureCode = gone ? "payment_expired" : declinedCodes[operation.kind];
    const settled = this.withOperation(
      {
        ...operation,
        status: "failed",
        failureCode,
        failureReason: answer.reason,
        askedAt: step.now,
        dueAt: null,
        settledAt: step.now,
      },
      step,
    ).withEvent(`${operation.kind}.failed`, step, {
      operationId: operation.id,
      failureCode,
      reason: answer.reason,
    });
    if (gone) {
      return settled
        .moved("authorization.gone", step)
        .withEvent("payment.expired", step, { reason: answer.reason })
        .withRelease(releaseId, step);
    }
    if (operation.kind === "authorize") {
      return settled
        .moved("authorize.failed", step)
        .withEvent("payment.declined", step, { reason: answer.reason });
    }
    return settled;
  }

  /** Nobody waits for a release, so a refusal does not end it: the next try has a key of its own. */
  private settleRelease(operation: Operation, answer: SettledAnswer, dueAt: Date, step: Step): Payment {
    if (answer.outcome === "declined") {
      const again: Operation = {
        ...operation,
        status: "unknown",
        n: operation.n + 1,
        attempts: operation.attempts + 1,
        firstSentAt: null,
        askedAt: step.now,
        dueAt,
      };
      return this.withOperation(again, step).withEvent("void.failed", step, {
        operationId: operation.id,
        release: true,
        reason: answer.reason,
        nextKey: again.n,
      });
    }
    // Gone is what a release is for.
    const reference = answer.outcome === "succeeded" ? answer.reference : null;
    return this.withOperation(
      {
        ...operation,
        status: "succeeded",
        gatewayReference: reference,
        askedAt: step.now,
        dueAt: null,
        settledAt: step.now,
      },
      step,
    )
      .moved("release.succeeded", step)
      .withEvent("void.succeeded", step, { operationId: operation.id, release: true })
      .withPendingReview(step);
  }

  private contradicted(operation: Operation, answer: SettledAnswer, step: Step): Payment {
    const same =
      (operation.status === "succeeded") === (answer.outcome === "succeeded") || isRelease(operation);
    if (same || operation.conflicted) return this;
    const marked = this.withOperation({ ...operation, conflicted: true }, step).withEvent(
      "operation.evidence_conflict",
      step,
      { operationId: operation.id, recorded: operation.status, answer: answer.outcome },
    );
    return marked.withPendingReview(step);
  }

  /** One operation is open at a time, so a contradiction met meanwhile becomes a review when the way is free. */
  private withPendingReview(step: Step): Payment {
    const pending = this.facts.operations.find((operation) => operation.conflicted && isFinished(operation));
    if (pending === undefined || this.openOperation !== undefined) return this;
    const changed: Operation = { ...pending, status: "needs_review", dueAt: null };
    return this.withOperation(changed, step).withEvent("operation.needs_review", step, {
      operationId: pending.id,
      kind: pending.kind,
      reason: "two answers for the same key contradict each other",
    });
  }

  // ---- the one place where each thing is written -----------------------------------------------------------------

  private begun(
    kind: OperationKind,
    begin: BeginOperation,
    amount: bigint,
    dueAt: Date,
    step: Step,
  ): Decision {
    if (this.openOperation !== undefined) throw this.inProgress(this.openOperation);
    const unsent = this.operationOfKey(kind, begin.idempotencyKey);
    if (unsent === undefined) {
      return { payment: this.withStarted(kind, begin, amount, dueAt, step), operationId: begin.operationId };
    }
    const again: Operation = { ...unsent, status: "started", firstSentAt: step.now, askedAt: null, dueAt };
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
    return this.withOperation(
      {
        ...this.blankOperation(begin.operationId, kind, amount, step.now),
        idempotencyKey: begin.idempotencyKey,
        fingerprint: begin.fingerprint,
        firstSentAt: step.now,
        dueAt,
      },
      step,
    ).withEvent(`${kind}.started`, step, { operationId: begin.operationId, amount: Number(amount) });
  }

  private withRelease(id: OperationId, step: Step): Payment {
    const release: Operation = {
      ...this.blankOperation(id, "void", this.facts.amount.amount, step.now),
      dueAt: step.now,
    };
    return this.withOperation(release, step).withEvent("void.started", step, {
      operationId: id,
      release: true,
    });
  }

  private blankOperation(id: OperationId, kind: OperationKind, amount: bigint, now: Date): Operation {
    return {
      id,
      paymentId: this.id,
      kind,
      idempotencyKey: null,
      fingerprint: "",
      amount,
      n: 1,
      status: "started",
      failureCode: null,
      failureReason: null,
      gatewayReference: null,
      attempts: 0,
      conflicted: false,
      createdAt: now,
      firstSentAt: null,
      askedAt: null,
      dueAt: null,
      settledAt: null,
    };
  }

  private withOperation(operation: Operation, step: Step): Payment {
    const others = this.facts.operations;
    const at = others.findIndex(({ id }) => id === operation.id);
    return this.changed({
      operations: at === -1 ? [...others, operation] : others.with(at, operation),
      updatedAt: step.now,
    });
  }

  private withEvent(type: PaymentEventType, step: Step, data: EventData): Payment {
    const sequence = this.facts.eventCount + 1;
    const event: PaymentEvent = {
      id: step.nextId(),
      sequence,
      type,
      at: step.now,
      data: { ...step.trace, ...data },
    };
    return new Payment({ ...this.facts, eventCount: sequence }, [...this.newEvents, event]);
  }

  private moved(transition: PaymentTransition, step: Step): Payment {
    const status = paymentTransitions[this.facts.status][transition];
    if (status === undefined) {
      throw new Error(`payment ${this.id} is ${this.facts.status}: ${transition} cannot happen to it`);
    }
    return this.changed({ status, updatedAt: step.now });
  }

  private changed(change: Partial<PaymentFacts>): Payment {
    return new Payment({ ...this.facts, ...change }, this.newEvents);
  }

  private refusalToBegin(kind: "capture" | "void" | "refund"): PaymentError | undefined {
    const verdict = beginnings[kind][this.facts.status];
    return verdict === "ok" ? undefined : this.stateError(verdict);
  }

  private stateError(code: PaymentErrorCode): PaymentError {
    if (code === "payment_expired") return this.expiredError();
    return new PaymentError(code as "payment_not_capturable", {
      paymentId: this.id,
      paymentStatus: this.facts.status,
    });
  }

  private expiredError(): PaymentError {
    return new PaymentError("payment_expired", { paymentId: this.id, expiresAt: this.facts.expiresAt });
  }

  private must(id: OperationId): Operation {
    const operation = this.operation(id);
    if (operation === undefined) throw new Error(`payment ${this.id} has no operation ${id}`);
    return operation;
  }

  private mustBeOpen(id: OperationId): Operation {
    const operation = this.must(id);
    if (!isOpen(operation)) throw new Error(`operation ${id} is ${operation.status}, not open`);
    return operation;
  }

  private beganAfter(other: Operation, operation: Operation): boolean {
    return this.facts.operations.indexOf(other) > this.facts.operations.indexOf(operation);
  }

  private succeededTotal(kind: OperationKind): bigint {
    return this.facts.operations
      .filter((operation) => operation.kind === kind && operation.status === "succeeded")
      .reduce((total, { amount }) => total + amount, 0n);
  }
}
