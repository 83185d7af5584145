import { z } from "zod";
import type { GatewayHint } from "../../../../application/ports/gateway-events/gateway-hint";
import { parsePaymentId, type PaymentId } from "../../../../domain/identifiers";
import { PAYMENT_ID } from "../stripe-evidence";

/**
 * Events that may be news of a payment. The same for webhooks and for the list, which takes twenty types at most. Whatever
 * else an endpoint is sent is ignored.
 */
export const followedTypes = [
  "payment_intent.amount_capturable_updated",
  "payment_intent.canceled",
  "payment_intent.payment_failed",
  "payment_intent.processing",
  "payment_intent.requires_action",
  "payment_intent.succeeded",
  "charge.captured",
  "charge.expired",
  "charge.failed",
  "charge.refunded",
  "charge.refund.updated",
  "refund.created",
  "refund.updated",
  "refund.failed",
  "charge.dispute.created",
  "charge.dispute.updated",
  "charge.dispute.closed",
  "charge.dispute.funds_withdrawn",
  "charge.dispute.funds_reinstated",
] as const;
const followed: ReadonlySet<string> = new Set(followedTypes);

const EVENT_ID = /^evt_\w{1,250}$/;
const INTENT_ID = /^pi_\w{1,250}$/;

/** Of an account that is connected to the one whose endpoint is called. */
const ofAccount = z.object({ account: z.string().regex(/^acct_\w{1,250}$/) });

const anyEvent = z.object({ object: z.string(), id: z.string(), type: z.string() });
const eventTime = z.object({ created: z.number().int().nonnegative() });

const intentId = z.string().regex(INTENT_ID);
const aboutIntent = z.object({ object: z.literal("payment_intent"), id: intentId });
/** Charges, refunds and disputes. */
const belongsToIntent = z.object({
  payment_intent: z.union([intentId, z.object({ id: intentId }).transform(({ id }) => id)]),
});
const withLabels = z.object({ metadata: z.object({ [PAYMENT_ID]: z.string() }) });
const withSubject = z.object({ data: z.object({ object: z.unknown() }) });

/** Null for what is no event; `foreign` for one that cannot be about a payment of ours. */
export function seeEvent(value: unknown): GatewayHint | "foreign" | null {
  const event = anyEvent.safeParse(value).data;
  if (event === undefined) return null;
  if (event.object !== "event" || !followed.has(event.type)) return "foreign";
  const subject = withSubject.safeParse(value).data?.data.object;
  if (!EVENT_ID.test(event.id) || subject === undefined) return null;
  const reference = intentOf(subject);
  return reference === null ? "foreign" : { eventId: event.id, reference, labelled: labelOf(subject) };
}

/** Null for an event of the very account whose endpoint is called. */
export function accountOfEvent(value: unknown): string | null {
  return ofAccount.safeParse(value).data?.account ?? null;
}

/** By Stripe's clock. */
export function timeOfEvent(value: unknown): Date | null {
  const created = eventTime.safeParse(value).data?.created;
  return created === undefined ? null : new Date(created * 1_000);
}

/** Null where there is no intent: what was charged without one was never ours. */
function intentOf(subject: unknown): string | null {
  return (
    aboutIntent.safeParse(subject).data?.id ?? belongsToIntent.safeParse(subject).data?.payment_intent ?? null
  );
}

/** A label can say anything: what is no payment's id is none. */
function labelOf(subject: unknown): PaymentId | null {
  const label = withLabels.safeParse(subject).data?.metadata[PAYMENT_ID];
  if (label === undefined) return null;
  try {
    return parsePaymentId(label);
  } catch {
    return null;
  }
}
