import { createHash, randomUUID } from "node:crypto";
import { scheduleAt } from "../../../src/application/operations/reconcile-schedule";
import {
  parseIdempotencyKey,
  parseMerchantId,
  parseOperationId,
  parsePaymentId,
  type OperationId,
} from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import { decideCapture, type Begun, type Decision } from "../../../src/domain/payment/decide-movement";
import { expire } from "../../../src/domain/payment/expiry";
import type { KeyedRequest, PaymentFacts, SettledAnswer } from "../../../src/domain/payment/facts";
import { openPayment } from "../../../src/domain/payment/opening";
import type { Operation } from "../../../src/domain/payment/operation";
import {
  amountCaptured,
  amountRefunded,
  openOperationOf,
  visibleStatus,
  type Payment,
} from "../../../src/domain/payment/payment";
import { settle } from "../../../src/domain/payment/settlement";
import type { Step } from "../../../src/domain/payment/step";
import { restored } from "../../../src/domain/payment/restored";
import { needsReview } from "../../../src/domain/payment/waiting";

/** The instant at which payments of tests begin. */
export const NOON = new Date("2026-03-04T12:00:00.000Z");
export const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

export function after(ms: number, start = NOON): Date {
  return new Date(start.getTime() + ms);
}

export function step(now = NOON, trace: Step["trace"] = {}): Step {
  return { now, nextId: randomUUID, schedule: scheduleAt(now, () => 0), trace };
}

export function begin(key: string = randomUUID()): KeyedRequest {
  return {
    idempotencyKey: parseIdempotencyKey(key),
    fingerprint: createHash("sha256").update(key).digest("hex"),
  };
}

/** What has begun, or the test's end. */
export function begunBy(decision: Decision): Begun {
  if (decision.outcome === "refused") throw decision.refusal;
  return decision;
}

/** The code of the refusal; null where something has begun. */
export function refusalOf(decision: Decision): string | null {
  return decision.outcome === "refused" ? decision.refusal.code : null;
}

export function newOperationId(): OperationId {
  return parseOperationId(randomUUID());
}

export interface Wanted {
  readonly id?: string;
  readonly merchant?: string;
  readonly amount?: bigint;
  readonly currency?: string;
  readonly key?: string;
  readonly authorizationReference?: string;
  readonly paymentMethod?: string;
  readonly gatewayAccount?: string;
  readonly returnUrl?: string;
  readonly reference?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly createdAt?: Date;
  readonly expiresAt?: Date;
}

/** A payment whose authorization has been intended and not answered. */
export function authorizingPayment(wanted: Wanted = {}): Payment {
  const createdAt = wanted.createdAt ?? NOON;
  return openPayment(
    {
      id: parsePaymentId(wanted.id ?? randomUUID()),
      merchant: parseMerchantId(wanted.merchant ?? "acme"),
      amount: money(wanted.amount ?? 1000n, parseCurrency(wanted.currency ?? "EUR")),
      paymentMethod: wanted.paymentMethod ?? "tok_ok",
      gatewayAccount: wanted.gatewayAccount ?? null,
      returnUrl: wanted.returnUrl ?? null,
      reference: wanted.reference ?? null,
      metadata: wanted.metadata ?? {},
      expiresAt: wanted.expiresAt ?? after(WEEK_MS, createdAt),
    },
    begin(wanted.key),
    step(createdAt),
  ).payment;
}

export function authorizedPayment(wanted: Wanted = {}): Payment {
  const payment = authorizingPayment(wanted);
  const reference = wanted.authorizationReference ?? `auth_${payment.facts.id}`;
  return settled(payment, succeeds(reference), wanted.createdAt ?? NOON);
}

/** Its capture has been intended and not answered. */
export function capturingPayment(payment = authorizedPayment(), amount?: bigint, key?: string): Payment {
  return begunBy(decideCapture(payment, begin(key), { amount }, step(payment.facts.updatedAt))).payment;
}

export function capturedPayment(payment = authorizedPayment(), amount?: bigint): Payment {
  return settled(capturingPayment(payment, amount), succeeds("cap_1"));
}

/** Lapsed, with the release of its reserved money open. */
export function expiredPayment(payment = authorizedPayment()): Payment {
  return expire(payment, step(payment.facts.expiresAt));
}

/** The payment whose open operation waits for a person. */
export function inReview(payment: Payment): Payment {
  const now = payment.facts.updatedAt;
  return needsReview(payment, openOperation(payment).id, { reason: "nobody knows" }, step(now));
}

/** The payment after an answer for its open operation. */
export function settled(payment: Payment, answer: SettledAnswer, now = payment.facts.updatedAt): Payment {
  return settle(payment, openOperation(payment).id, answer, step(now));
}

export function succeeds(reference: string | null = null) {
  return { outcome: "succeeded", reference } as const;
}

export function declines(reason = "no"): SettledAnswer {
  return { outcome: "declined", reason };
}

export function openOperation(payment: Payment): Operation {
  const open = openOperationOf(payment);
  if (open === undefined) throw new Error(`payment ${payment.facts.id} has no open operation`);
  return open;
}

/** What is read off a payment, beside its facts. */
export function figuresOf(payment: Payment) {
  return {
    visibleStatus: visibleStatus(payment),
    amountCaptured: amountCaptured(payment),
    amountRefunded: amountRefunded(payment),
    openOperation: openOperationOf(payment),
  };
}

/** A payment no step leads to: for what a store has to refuse whatever the domain believes. */
export function forged(payment: Payment, change: Partial<PaymentFacts>): Payment {
  return restored({ ...payment.facts, ...change });
}

/** A finished movement that no gateway ever heard of. */
export function forgedOperation(payment: Payment, change: Partial<Operation>): Operation {
  const [authorize] = payment.facts.operations;
  if (authorize === undefined) throw new Error("a payment begins with its authorization");
  return {
    ...authorize,
    id: newOperationId(),
    idempotencyKey: parseIdempotencyKey(randomUUID()),
    kind: "capture",
    status: "succeeded",
    dueAt: null,
    settledAt: NOON,
    ...change,
  };
}
