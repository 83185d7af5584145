import type { z } from "zod";
import type { PaymentEvent } from "../../../../domain/payment/events";
import type { paymentEventAnswer } from "./payment-answers";

/** With everything that is known: for operators. */
export function presentEvent({ id, type, at, data }: PaymentEvent): z.output<typeof paymentEventAnswer> {
  return { id, type, at: at.toISOString(), data };
}

/** All of these of a review are the merchant's to know; evidence and reasons are what operators tell each other. */
const TOLD_OF_REVIEWS = ["lock", "operationId", "kind", "outcome", "resolvedBy"] as const;

/** Without what an operator wrote, and without whose key it was: for the payment's merchant. */
export function presentEventToMerchant(event: PaymentEvent): z.output<typeof paymentEventAnswer> {
  const { type, data } = event;
  const isReview = type.startsWith("review.");
  const by = data["by"] as { readonly operator?: boolean; readonly apiKey?: unknown } | undefined;
  const isOperators = by?.operator === true || (isReview && by?.apiKey !== undefined);
  const told = isReview
    ? Object.fromEntries(TOLD_OF_REVIEWS.flatMap((name) => (name in data ? [[name, data[name]]] : [])))
    : data;
  const shownBy = by === undefined ? {} : { by: isOperators ? { operator: true } : by };
  return presentEvent({ ...event, data: { ...told, ...shownBy } });
}
