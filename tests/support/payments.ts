import { createHash, randomUUID } from "node:crypto";
import {
  parseIdempotencyKey,
  parseMerchantId,
  parseOperationId,
  parsePaymentId,
  type OperationId,
} from "../../src/domain/identifiers";
import { money, parseCurrency } from "../../src/domain/money";
import type { Operation } from "../../src/domain/operation";
import {
  Payment,
  type BeginOperation,
  type PaymentFacts,
  type SettledAnswer,
} from "../../src/domain/payment";
import type { Step } from "../../src/domain/payment-events";

/** The instant at which payments of tests begin. */
export const NOON = new Date("2026-03-04T12:00:00.000Z");
export const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

export function after(ms: number, start = NOON): Date {
  return new Date(start.getTime() + ms);
}

export function step(now = NOON, trace: Step["trace"] = {}): Step {
  return { now, nextId: randomUUID, trace };
}

export function begin(key: string = randomUUID()): BeginOperation {
  return {
    operationId: newOperationId(),
    idempotencyKey: parseIdempotencyKey(key),
    fingerprint: createHash("sha256").update(key).digest("hex"),
  };
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
  readonly reference?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly createdAt?: Date;
  readonly expiresAt?: Date;
}

/** A payment whose authorization has been intended and not answered. */
export function authorizingPayment(wanted: Wanted = {}): Payment {
  const createdAt = wanted.createdAt ?? NOON;
  return Payment.beginAuthorize(
    {
      id: parsePaymentId(wanted.id ?? randomUUID()),
      merchant: parseMerchantId(wanted.merchant ?? "acme"),
      amount: money(wanted.amount ?? 1000n, parseCurrency(wanted.currency ?? "EUR")),
      paymentMethod: wanted.paymentMethod ?? "tok_ok",
      reference: wanted.reference ?? null,
      metadata: wanted.metadata ?? {},
      expiresAt: wanted.expiresAt ?? after(WEEK_MS, createdAt),
    },
    begin(wanted.key),
    after(5_000, createdAt),
    step(createdAt),
  );
}

export function authorizedPayment(wanted: Wanted = {}): Payment {
  const payment = authorizingPayment(wanted);
  const reference = wanted.authorizationReference ?? `auth_${payment.id}`;
  return settled(payment, succeeds(reference), wanted.createdAt ?? NOON);
}

/** Its capture has been intended and not answered. */
export function capturingPayment(payment = authorizedPayment(), amount?: bigint, key?: string): Payment {
  const now = payment.facts.updatedAt;
  const decision = payment.decideCapture(
    begin(key),
    amount === undefined ? {} : { amount },
    newOperationId(),
    after(5_000, now),
    step(now),
  );
  if (decision.refusal !== undefined) throw decision.refusal;
  return decision.payment;
}

export function capturedPayment(payment = authorizedPayment(), amount?: bigint): Payment {
  return settled(capturingPayment(payment, amount), succeeds("cap_1"));
}

/** Lapsed, with the release of its reserved money open. */
export function expiredPayment(payment = authorizedPayment()): Payment {
  return payment.expire(newOperationId(), step(payment.facts.expiresAt));
}

/** The payment whose open operation waits for a person. */
export function inReview(payment: Payment): Payment {
  const now = payment.facts.updatedAt;
  return payment.needsReview(openOperation(payment).id, "nobody knows", after(300_000, now), step(now));
}

/** The payment after an answer for its open operation. */
export function settled(payment: Payment, answer: SettledAnswer, now = payment.facts.updatedAt): Payment {
  return payment.settle(openOperation(payment).id, answer, newOperationId(), after(5_000, now), step(now));
}

export function succeeds(reference: string | null = null) {
  return { outcome: "succeeded", reference } as const;
}

export function declines(reason = "no"): SettledAnswer {
  return { outcome: "declined", reason };
}

export function openOperation(payment: Payment): Operation {
  const open = payment.openOperation;
  if (open === undefined) throw new Error(`payment ${payment.id} has no open operation`);
  return open;
}

/** A payment no step leads to: for what a store has to refuse whatever the domain believes. */
export function forged(payment: Payment, change: Partial<PaymentFacts>): Payment {
  return Payment.restore({ ...payment.facts, ...change });
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
