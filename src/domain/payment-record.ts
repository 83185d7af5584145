import type { IdempotencyKey, OperationId, PaymentId } from "./identifiers";
import type { Currency } from "./money";
import { beforeCorrection, isOpen, isRelease, type Operation, type OperationKind } from "./operation";
import { PaymentError } from "./payment-errors";
import type { EventData, PaymentEvent, PaymentEventType, Step } from "./payment-events";
import type { PaymentFacts, VisibleStatus } from "./payment-facts";
import { paymentTransitions, type PaymentStatus, type PaymentTransition } from "./payment-transitions";

const inProgressCodes = {
  authorize: "authorize_in_progress",
  capture: "capture_in_progress",
  void: "void_in_progress",
  refund: "refund_in_progress",
} as const;

const statusAfter: Record<OperationKind, PaymentStatus> = {
  authorize: "authorized",
  capture: "captured",
  void: "voided",
  refund: "captured",
};

/**
 * What is known of a payment, and the one place where each part of it is written. Immutable: every change is a new
 * record of the same class. It knows no rules; those are the steps of `Payment`.
 */
export abstract class PaymentRecord {
  protected constructor(
    readonly facts: PaymentFacts,
    /** What happened since it was read; stored together with it. */
    readonly newEvents: readonly PaymentEvent[],
  ) {}

  protected abstract next(facts: PaymentFacts, newEvents: readonly PaymentEvent[]): this;

  // ---- reading ---------------------------------------------------------------------------------------------------

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

  /** The payment as it is once its events are stored. */
  stored(): this {
    return this.next(this.facts, []);
  }

  /** What was answered when this operation succeeded, whatever has happened to it and to the payment since. */
  asItWasAfter(operation: Operation): this {
    const { settledAt, settledSequence } = operation;
    if (settledAt === null || settledSequence === null) return this;
    const then = this.facts.operations
      .filter((other) => other.settledSequence !== null && other.settledSequence <= settledSequence)
      .map((other) => asItWasAt(settledSequence, other));
    const status = statusAfter[operation.kind];
    return this.next({ ...this.facts, operations: then, status, updatedAt: settledAt }, []);
  }

  // ---- writing: only for the steps of this folder ----------------------------------------------------------------

  must(id: OperationId): Operation {
    const operation = this.operation(id);
    if (operation === undefined) throw new Error(`payment ${this.id} has no operation ${id}`);
    return operation;
  }

  mustBeOpen(id: OperationId): Operation {
    const operation = this.must(id);
    if (!isOpen(operation)) throw new Error(`operation ${id} is ${operation.status}, not open`);
    return operation;
  }

  withOperation(operation: Operation, step: Step): this {
    const others = this.facts.operations;
    const at = others.findIndex(({ id }) => id === operation.id);
    return this.changed({
      operations: at === -1 ? [...others, operation] : others.with(at, operation),
      updatedAt: step.now,
    });
  }

  withEvent(type: PaymentEventType, step: Step, data: EventData): this {
    const sequence = this.facts.eventCount + 1;
    const event: PaymentEvent = {
      id: step.nextId(),
      sequence,
      type,
      at: step.now,
      data: { ...step.trace, ...data },
    };
    return this.next({ ...this.facts, eventCount: sequence }, [...this.newEvents, event]);
  }

  moved(transition: PaymentTransition, step: Step): this {
    const status = paymentTransitions[this.facts.status][transition];
    if (status === undefined) {
      throw new Error(`payment ${this.id} is ${this.facts.status}: ${transition} cannot happen to it`);
    }
    return this.changed({ status, updatedAt: step.now });
  }

  /** Owes the gateway the release of the reserved money. It is due at once, and nobody waits for it. */
  withRelease(id: OperationId, step: Step): this {
    const release: Operation = {
      ...this.blankOperation(id, "void", this.facts.amount.amount, step.now),
      dueAt: step.now,
    };
    return this.withOperation(release, step).withEvent("void.started", step, {
      operationId: id,
      release: true,
    });
  }

  blankOperation(id: OperationId, kind: OperationKind, amount: bigint, now: Date): Operation {
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
      settledSequence: null,
      correctedSequence: null,
    };
  }

  /** What an operation that ends now is given: the event that tells of it comes next. */
  get nextSettlement(): number {
    return this.facts.eventCount + 1;
  }

  changed(change: Partial<PaymentFacts>): this {
    return this.next({ ...this.facts, ...change }, this.newEvents);
  }

  private succeededTotal(kind: OperationKind): bigint {
    return this.facts.operations
      .filter((operation) => operation.kind === kind && operation.status === "succeeded")
      .reduce((total, { amount }) => total + amount, 0n);
  }
}

/** What the gateway took back later counted then. */
function asItWasAt(sequence: number, operation: Operation): Operation {
  const { correctedSequence } = operation;
  return correctedSequence !== null && correctedSequence > sequence ? beforeCorrection(operation) : operation;
}
