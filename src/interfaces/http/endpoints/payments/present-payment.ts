import type { z } from "zod";
import { publicPayment } from "../../../../application/public-events/public-payment";
import { waitingForCustomer } from "../../../../domain/payment/customer/customer-action";
import type { Payment } from "../../../../domain/payment/payment";
import type { paymentAnswer } from "./payment-answers";
import type { PaymentParts } from "./payment-parts";

/**
 * With what has to happen next, while it has to. Events do not have it: whoever knows the address can act in the customer's
 * place, and an event is kept, and sent elsewhere.
 */
export function presentPayment(
  payment: Payment,
  { customerUrl }: Pick<PaymentParts, "customerUrl">,
): z.output<typeof paymentAnswer> {
  const { actionUrl } = payment.facts;
  const until = waitingForCustomer(payment)?.decidesBy ?? null;
  if (actionUrl === null || until === null) return publicPayment(payment);
  const url = actionUrl.startsWith("/") ? customerUrl(actionUrl) : actionUrl;
  const nextAction = { type: "redirect" as const, url, expiresAt: until.toISOString() };
  return { ...publicPayment(payment), nextAction };
}
