import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { onePaymentAnswer } from "./payment-answers";
import type { PaymentParts } from "./payment-parts";
import { presentPayment } from "./present-payment";

export const showPayment = endpoint<PaymentParts>()({
  method: "get",
  path: "/payments/:paymentId",
  operationId: "showPayment",
  tag: "Payments",
  summary: "Show a payment",
  access: "merchant",
  answers: { 200: { description: "As it is now.", schema: onePaymentAnswer } },
  problems: ["invalid_payment_id", "payment_not_found"],
  async handle({ response, ids }, parts) {
    const { merchant, operator } = callerOf(response);
    const whose = operator ? null : merchant;
    const payment = await parts.inWorld(({ readPayments }) => readPayments.one(ids.paymentId, whose));
    return { status: 200, body: { payment: presentPayment(payment, parts) } };
  },
});
