import { z } from "zod";
import {
  parseIdempotencyKey,
  parseMerchantId,
  parseOperationId,
  parsePaymentId,
} from "../../domain/identifiers";
import { parseCurrency } from "../../domain/money";
import type { Operation } from "../../domain/operation";
import type { PaymentEvent } from "../../domain/payment-events";
import type { PaymentFacts } from "../../domain/payment-facts";
import type { PaymentStatus } from "../../domain/payment-transitions";

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

const operation = z.strictObject({
  id: operationId,
  paymentId,
  kind: z.enum(["authorize", "capture", "void", "refund"]),
  idempotencyKey: parsed(parseIdempotencyKey).nullable(),
  fingerprint: z.string(),
  amount: minorUnits,
  n: z.int().min(1),
  status: z.enum(["started", "unknown", "needs_review", "succeeded", "failed", "not_sent"]),
  failureCode: z.custom<Operation["failureCode"]>((value) => value === null || typeof value === "string"),
  failureReason: z.string().nullable(),
  gatewayReference: z.string().nullable(),
  attempts: z.int().min(0),
  conflicted: z.boolean(),
  createdAt: instant,
  firstSentAt: instant.nullable(),
  askedAt: instant.nullable(),
  dueAt: instant.nullable(),
  settledAt: instant.nullable(),
});

const facts = z.strictObject({
  id: paymentId,
  merchant: parsed(parseMerchantId),
  status: paymentStatus,
  amount: z.strictObject({ amount: minorUnits, currency: parsed(parseCurrency) }),
  paymentMethod: z.string(),
  reference: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  authorizationReference: z.string().nullable(),
  createdAt: instant,
  authorizedAt: instant.nullable(),
  expiresAt: instant,
  updatedAt: instant,
  operations: z.array(operation),
  eventCount: z.int().min(0),
});

const event = z.strictObject({
  id: z.string(),
  sequence: z.int().min(1),
  type: z.custom<PaymentEvent["type"]>((value) => typeof value === "string"),
  at: instant,
  data: z.record(z.string(), z.unknown()),
});

/** Strict, so that a field that was forgotten here shows at the first snapshot and not at the first restore. */
const snapshotSchema = z.strictObject({
  format: z.literal(1),
  payments: z.array(z.strictObject({ version: z.int().min(1), facts, events: z.array(event) })),
});

/** JSON: amounts are strings of digits, instants are ISO 8601. */
export type PaymentsSnapshot = z.input<typeof snapshotSchema>;

export function paymentsSnapshot(payments: readonly StoredPaymentContent[]): PaymentsSnapshot {
  return z.encode(snapshotSchema, {
    format: 1,
    payments: payments.map(({ version, facts: stored, events }) => ({
      version,
      facts: {
        ...stored,
        amount: { ...stored.amount },
        metadata: { ...stored.metadata },
        operations: stored.operations.map((one) => ({ ...one })),
      },
      events: events.map((one) => ({ ...one, data: { ...one.data } })),
    })),
  });
}

/** Throws, naming the field, on anything that is not a snapshot of this format. */
export function restoredPayments(snapshot: unknown): readonly StoredPaymentContent[] {
  const read = snapshotSchema.safeParse(snapshot);
  if (!read.success) throw new Error(`not a snapshot of payments: ${z.prettifyError(read.error)}`);
  return read.data.payments;
}
