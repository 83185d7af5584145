import { z } from "zod";
import {
  parseIdempotencyKey,
  parseMerchantId,
  parseOperationId,
  parsePaymentId,
} from "../../domain/identifiers";
import type { Currency, Money } from "../../domain/money";
import type { Operation, OperationStatus } from "../../domain/payment/operation";
import type { PaymentEvent } from "../../domain/payment/events";
import type { PaymentFacts } from "../../domain/payment/facts";
import { disputeStatuses } from "../../domain/payment/picture/gateway-picture";
import type { PaymentStatus } from "../../domain/payment/transitions";
import { publicEventTypes, type PublicEvent } from "../../application/public-events/public-event";
import { exponentBeforeItWasKept } from "./migrations/versions/from-0001/iso-4217-before-exponents";

/** Everything that an in-memory store holds of one payment. */
export interface StoredPaymentContent {
  readonly version: number;
  readonly facts: PaymentFacts;
  readonly events: readonly PaymentEvent[];
}

const instant = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
const minorUnits = z.codec(z.string().regex(/^\d{1,30}$/), z.bigint(), {
  decode: (text) => BigInt(text),
  encode: (amount) => amount.toString(),
});
/** Text that is parsed on the way in and is the same text on the way out. */
function parsed<T extends string>(parse: (text: string) => T) {
  return z.codec(z.string(), z.custom<T>(), { decode: (text) => parse(text), encode: (value) => value });
}

/** Read as it was written: a currency that ISO 4217 has withdrawn since is still that of this payment. */
const currency = z.codec(z.string().regex(/^[A-Z]{3}$/), z.custom<Currency>(), {
  decode: (code) => code as Currency,
  encode: (code) => code,
});
/** Format 1 has no exponent. */
const money = z.codec(
  z.strictObject({ amount: minorUnits, currency, exponent: z.int().min(0).max(9).nullish() }),
  z.custom<Money>(),
  {
    decode: ({ exponent, ...kept }) => ({
      ...kept,
      exponent: exponent === undefined ? exponentBeforeItWasKept(kept.currency) : exponent,
    }),
    encode: (amount) => ({ ...amount }),
  },
);

const statuses = {
  authorizing: true,
  authorized: true,
  captured: true,
  voided: true,
  expired: true,
  declined: true,
} as const satisfies Record<PaymentStatus, true>;
const paymentStatus = z.enum(Object.keys(statuses) as [PaymentStatus, ...PaymentStatus[]]);
const paymentId = parsed(parsePaymentId);
const operationId = parsed(parseOperationId);

const operationStatuses = {
  started: true,
  unknown: true,
  pending: true,
  requires_action: true,
  needs_review: true,
  succeeded: true,
  failed: true,
  not_sent: true,
} as const satisfies Record<OperationStatus, true>;
const operationStatus = z.enum(Object.keys(operationStatuses) as [OperationStatus, ...OperationStatus[]]);

const operation = z.strictObject({
  id: operationId,
  paymentId,
  kind: z.enum(["authorize", "capture", "void", "refund"]),
  /** Formats 1 to 3 know of our own operations only. */
  origin: z.enum(["holdfast", "gateway"]).default("holdfast"),
  idempotencyKey: parsed(parseIdempotencyKey).nullable(),
  fingerprint: z.string(),
  amount: minorUnits,
  n: z.int().min(1),
  status: operationStatus,
  failureCode: z.custom<Operation["failureCode"]>((value) => value === null || typeof value === "string"),
  failureReason: z.string().nullable(),
  gatewayReference: z.string().nullable(),
  attempts: z.int().min(0),
  conflicted: z.boolean(),
  createdAt: instant,
  firstSentAt: instant.nullable(),
  askedAt: instant.nullable(),
  dueAt: instant.nullable(),
  /** Formats 1 to 4 know of no answers that come later. */
  decidesBy: instant.nullable().default(null),
  settledAt: instant.nullable(),
  /** What was written before it was kept has none. */
  settledSequence: z.int().min(1).nullish(),
  /** Likewise. */
  correctedSequence: z.int().min(1).nullish(),
});

const facts = z.strictObject({
  id: paymentId,
  merchant: parsed(parseMerchantId),
  status: paymentStatus,
  amount: money,
  paymentMethod: z.string(),
  /** Formats 1 to 4 know of no actions of the customer. */
  returnUrl: z.string().nullable().default(null),
  /** Not there before accounts were kept; a sandbox has one. */
  gatewayAccount: z.string().nullable().default(null),
  reference: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  authorizationReference: z.string().nullable(),
  /** Likewise. */
  actionUrl: z.string().nullable().default(null),
  createdAt: instant,
  authorizedAt: instant.nullable(),
  expiresAt: instant,
  updatedAt: instant,
  operations: z.array(operation),
  /** Formats 1 to 3 have none. */
  disputes: z
    .array(
      z.strictObject({
        id: z.string(),
        status: z.enum(disputeStatuses),
        amount: minorUnits,
        reason: z.string(),
        dueBy: instant.nullable(),
      }),
    )
    .default([]),
  eventCount: z.int().min(0),
});

const event = z.strictObject({
  id: z.string(),
  sequence: z.int().min(1),
  type: z.custom<PaymentEvent["type"]>((value) => typeof value === "string"),
  at: instant,
  data: z.record(z.string(), z.unknown()),
});

/** Told as it was: what is in it is not read again here. */
const publicEvent = z.strictObject({
  id: z.string(),
  type: z.enum(publicEventTypes),
  at: instant,
  merchant: parsed(parseMerchantId),
  paymentId: paymentId.nullable(),
  sequence: z.int().min(1).nullable(),
  content: z.record(z.string(), z.unknown()),
});

/** Strict, so that a field that was forgotten here shows at the first snapshot and not at the first restore. */
const snapshotSchema = z.strictObject({
  format: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4), z.literal(5)]),
  payments: z.array(z.strictObject({ version: z.int().min(1), facts, events: z.array(event) })),
  /** In the order of the feed. Formats 1 and 2 have none. */
  publicEvents: z.array(publicEvent).optional(),
});

/** JSON: amounts are strings of digits, instants are ISO 8601. */
export type PaymentsSnapshot = z.input<typeof snapshotSchema>;

export function paymentsSnapshot(
  payments: readonly StoredPaymentContent[],
  publicEvents: readonly PublicEvent[],
): PaymentsSnapshot {
  return z.encode(snapshotSchema, {
    format: 5,
    payments: payments.map(({ version, facts: stored, events }) => ({
      version,
      facts: {
        ...stored,
        amount: { ...stored.amount },
        metadata: { ...stored.metadata },
        operations: stored.operations.map((one) => ({ ...one })),
        disputes: stored.disputes.map((one) => ({ ...one })),
      },
      events: events.map((one) => ({ ...one, data: { ...one.data } })),
    })),
    publicEvents: publicEvents.map(({ id, type, at, merchant, paymentId: of, sequence, content }) => ({
      id,
      type,
      at,
      merchant,
      paymentId: of,
      sequence,
      content: { ...content },
    })),
  });
}

/** Throws, naming the field, on anything that is not a snapshot of this format. */
export function restoredPayments(snapshot: unknown): {
  readonly payments: readonly StoredPaymentContent[];
  readonly publicEvents: readonly PublicEvent[];
} {
  const read = snapshotSchema.safeParse(snapshot);
  if (!read.success) throw new Error(`not a snapshot of payments: ${z.prettifyError(read.error)}`);
  const payments = read.data.payments.map((payment) => ({
    ...payment,
    facts: { ...payment.facts, operations: inOrderOfEnding(payment.facts.operations) },
  }));
  return { payments, publicEvents: read.data.publicEvents ?? [] };
}

/** As the migration of the SQL stores does it: by the times, where nothing else was kept. */
function inOrderOfEnding(operations: readonly z.output<typeof operation>[]): readonly Operation[] {
  const byTime = operations
    .filter(({ settledAt }) => settledAt !== null)
    .sort((a, b) => Number(a.settledAt) - Number(b.settledAt));
  return operations.map((one) => ({
    ...one,
    settledSequence: one.settledSequence ?? (one.settledAt === null ? null : byTime.indexOf(one) + 1),
    correctedSequence: one.correctedSequence ?? null,
  }));
}
