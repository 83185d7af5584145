import type { EventData, PaymentEvent, PaymentEventType } from "../events";
import type { PaymentFacts } from "../facts";
import type { Operation } from "../operation";
import type { Payment } from "../payment";
import type { Step } from "../step";
import { paymentTransitions, type PaymentStatus, type PaymentTransition } from "../transitions";

/** What one step writes. All three parts are said each time, so that no step can forget one. */
export interface Change {
  /** The operation that the step is about, as it is from now on; null where it is the payment's alone. */
  readonly row: Operation | null;
  /** What the payment becomes: `after(…)` a transition, or what it is. */
  readonly status: PaymentStatus;
  /** In this order. Empty where nothing happened that is worth an entry. */
  readonly history: readonly Entry[];
  /** What else is known from now on. */
  readonly facts?: Partial<
    Pick<PaymentFacts, "authorizationReference" | "actionUrl" | "authorizedAt" | "expiresAt" | "disputes">
  >;
}

export type Entry = readonly [type: PaymentEventType, data: EventData];

/** The one place where a payment is written: row, status and history together. */
export function recorded(payment: Payment, change: Change, step: Step): Payment {
  const { facts, newEvents } = payment;
  const { row, status, history } = change;
  const operations = row === null ? facts.operations : withRow(facts.operations, row);
  const events = history.map(([type, data], at): PaymentEvent => ({
    id: step.nextId(),
    sequence: facts.eventCount + at + 1,
    type,
    at: step.now,
    data: { ...step.trace, ...data },
  }));
  return {
    facts: {
      ...facts,
      ...change.facts,
      operations,
      actionUrl: isCustomerAwaited(operations) ? (change.facts?.actionUrl ?? facts.actionUrl) : null,
      status,
      updatedAt: step.now,
      eventCount: facts.eventCount + events.length,
    },
    newEvents: [...newEvents, ...events],
  };
}

/** A page outlives the wait for it in no step. */
function isCustomerAwaited(operations: readonly Operation[]): boolean {
  return operations.some(({ status }) => status === "requires_action");
}

/** The status that the transition leads to. What the table does not have cannot happen. */
export function after({ facts }: Payment, transition: PaymentTransition): PaymentStatus {
  const status = paymentTransitions[facts.status][transition];
  if (status === undefined) {
    throw new Error(`payment ${facts.id} is ${facts.status}: ${transition} cannot happen to it`);
  }
  return status;
}

/** The number of the first event of the next change. */
export function nextSequence({ facts }: Payment): number {
  return facts.eventCount + 1;
}

export function withRow(operations: readonly Operation[], row: Operation): readonly Operation[] {
  const at = operations.findIndex(({ id }) => id === row.id);
  return at === -1 ? [...operations, row] : operations.with(at, row);
}
