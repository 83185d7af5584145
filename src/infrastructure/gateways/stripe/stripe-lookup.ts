import type { LookupAnswer } from "../../../application/ports/authorization-lookup";
import { fromStripeAmount } from "./stripe-amount";
import { meaningOf } from "./stripe-errors";
import { MERCHANT, PAYMENT_ID } from "./stripe-evidence";
import { seePaymentIntent } from "./stripe-objects";

/** Reads a PaymentIntent that somebody else has made as an authorization to import. */
export async function lookedUp(reference: string, retrieve: () => Promise<unknown>): Promise<LookupAnswer> {
  // Anything else in this place would be a request to another of Stripe's addresses.
  if (!/^pi_\w{1,250}$/.test(reference)) return { outcome: "not_found" };
  let object: unknown;
  try {
    object = await retrieve();
  } catch (error) {
    const { statusCode, code } = error as { statusCode?: number; code?: string };
    if (statusCode === 404 && code === "resource_missing") return { outcome: "not_found" };
    const { reason, refused } = meaningOf(error);
    return { outcome: "unknown", reason, ...(refused && { refused }) };
  }
  const seen = seePaymentIntent(object);
  if (seen === null) return { outcome: "unknown", reason: "an answer that makes no sense" };
  const merchant = seen.metadata[MERCHANT] ?? null;
  if (seen.status === "processing") return { outcome: "undecided", merchant, reason: seen.status };
  if (seen.status !== "requires_capture") return { outcome: "not_capturable", merchant, reason: seen.status };
  if (seen.amount_capturable !== seen.amount) {
    return { outcome: "not_capturable", merchant, reason: "only a part of it can be captured" };
  }
  const amount = fromStripeAmount(seen.amount, seen.currency);
  if (typeof amount === "string") return { outcome: "not_capturable", merchant, reason: amount };
  return {
    outcome: "found",
    merchant,
    authorization: {
      reference: seen.id,
      amount,
      expiresAt: seen.captureBefore,
      paymentId: seen.metadata[PAYMENT_ID] ?? null,
    },
  };
}
