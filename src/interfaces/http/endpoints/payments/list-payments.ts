import { callerOf } from "../../requests/request-context";
import { instantIn, text } from "../../requests/wire-values";
import { endpoint } from "../endpoint";
import { pageQuery } from "../page-query";
import { paymentListAnswer, visibleStatus } from "./payment-answers";
import type { PaymentParts } from "./payment-parts";
import { presentPayment } from "./present-payment";

export const listPaymentsQuery = pageQuery.extend({
  status: visibleStatus.optional(),
  reference: text(255).optional(),
  createdFrom: instantIn.optional().meta({ description: "Inclusive." }),
  createdTo: instantIn.optional().meta({ description: "Exclusive." }),
});

export const listPayments = endpoint<PaymentParts>()({
  method: "get",
  path: "/payments",
  operationId: "listPayments",
  tag: "Payments",
  summary: "List payments, newest first",
  access: "merchant",
  query: listPaymentsQuery,
  answers: { 200: { description: "One page.", schema: paymentListAnswer } },
  problems: ["invalid_request"],
  async handle({ response, query }, parts) {
    const { merchant } = callerOf(response);
    const page = await parts.inWorld(({ readPayments }) => readPayments.list({ ...query, merchant }));
    return {
      status: 200,
      body: { data: page.data.map((one) => presentPayment(one, parts)), nextCursor: page.nextCursor },
    };
  },
});
