import { z } from "zod";

/**
 * What is read of Stripe's objects. Checked and not believed: a proxy's page, another API version or half an answer
 * must not pass for a capture.
 */
const minorUnits = z.number().int().nonnegative();
const metadata = z.record(z.string(), z.string());
const idOrObject = z
  .union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)])
  .nullish()
  .transform((id) => id ?? null);

const paymentIntent = z.object({
  object: z.literal("payment_intent"),
  id: z.string().min(1),
  status: z.string(),
  amount: minorUnits,
  amount_capturable: minorUnits,
  amount_received: minorUnits,
  currency: z.string(),
  metadata,
  latest_charge: idOrObject,
  cancellation_reason: z.string().nullish(),
  /** Where the customer has to act, if that is somewhere to go. */
  next_action: z
    .object({ type: z.string(), redirect_to_url: z.object({ url: z.string().nullish() }).nullish() })
    .nullish(),
  last_payment_error: z
    .object({ code: z.string().optional(), decline_code: z.string().optional() })
    .nullish(),
});

const refund = z.object({
  object: z.literal("refund"),
  id: z.string().min(1),
  status: z.string().nullable(),
  amount: minorUnits,
  currency: z.string(),
  metadata: metadata.nullable(),
  payment_intent: idOrObject,
  failure_reason: z.string().nullish(),
});

const dispute = z.object({
  object: z.literal("dispute"),
  id: z.string().min(1),
  status: z.string(),
  amount: minorUnits,
  currency: z.string(),
  reason: z.string(),
  evidence_details: z.object({ due_by: z.number().int().nullish() }).nullish(),
});

const disputedCharge = z.object({ latest_charge: z.object({ disputed: z.literal(true) }) });

const captureDeadline = z.object({
  latest_charge: z.object({
    payment_method_details: z.object({ card: z.object({ capture_before: z.number().int() }) }),
  }),
});

export type PaymentIntentSeen = z.output<typeof paymentIntent> & {
  /** When Stripe lets an authorization go by itself. Only there when the charge is expanded. */
  readonly captureBefore: Date | null;
  /** Likewise. */
  readonly isDisputed: boolean;
};
export type RefundSeen = z.output<typeof refund>;
export type DisputeSeen = z.output<typeof dispute>;

/** Null for what is no such object. */
export function seePaymentIntent(value: unknown): PaymentIntentSeen | null {
  const seen = paymentIntent.safeParse(value).data;
  if (seen === undefined) return null;
  const isDisputed = disputedCharge.safeParse(value).success;
  return { ...seen, captureBefore: seeCaptureDeadline(value), isDisputed };
}

export function seeDispute(value: unknown): DisputeSeen | null {
  return dispute.safeParse(value).data ?? null;
}

export function seeRefund(value: unknown): RefundSeen | null {
  return refund.safeParse(value).data ?? null;
}

function seeCaptureDeadline(value: unknown): Date | null {
  const seen = captureDeadline.safeParse(value).data;
  return seen === undefined
    ? null
    : new Date(seen.latest_charge.payment_method_details.card.capture_before * 1000);
}
