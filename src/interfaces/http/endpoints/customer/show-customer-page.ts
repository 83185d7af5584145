import { z } from "zod";
import { PaymentError } from "../../../../domain/payment/errors";
import { text } from "../../requests/wire-values";
import { endpoint } from "../endpoint";
import { CUSTOMER_PAGES, type CustomerParts } from "./customer-parts";
import { customerPage, protect } from "./customer-page";
import { customerProblemPage } from "./customer-problem-page";

export const showCustomerPage = endpoint<CustomerParts>()({
  method: "get",
  path: `${CUSTOMER_PAGES}/payments/:paymentId`,
  operationId: "showCustomerPage",
  tag: "Simulated gateway",
  summary: "The page on which a customer confirms or declines a payment",
  description:
    "Where `nextAction` of a payment with `tok_requires_action` leads. Works without scripts and without an API key: the secret " +
    "in its address is the right to act. Only there where the simulated gateway is the gateway of a server that listens on " +
    "loopback, and in sandboxes.",
  access: "open",
  query: z.strictObject({ secret: text(64) }),
  answers: { 200: { description: "The page.", contentType: "text/html" } },
  problems: [
    "invalid_payment_id",
    "invalid_request",
    "payment_not_found",
    "service_unavailable",
    "route_not_found",
  ],
  problemPage: customerProblemPage,
  async handle({ response, ids, query: { secret } }, { inWorld }) {
    const html = await inWorld(ids, async ({ customerPages, readPayments }) => {
      const page = await customerPages.show(ids.paymentId, secret);
      if (page === null) throw new PaymentError("payment_not_found", { paymentId: ids.paymentId });
      protect(response, page);
      return customerPage(page, (await readPayments.one(ids.paymentId, null)).facts, secret);
    });
    return { status: 200, text: html, contentType: "text/html; charset=utf-8" };
  },
});
