import { z } from "zod";
import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { pageQuery } from "../page-query";
import { eventListAnswer } from "./payment-answers";
import type { PaymentParts } from "./payment-parts";
import { presentEvent, presentEventToMerchant } from "./present-event";

export const listPaymentEvents = endpoint<PaymentParts>()({
  method: "get",
  path: "/payments/:paymentId/events",
  operationId: "listPaymentEvents",
  tag: "Payments",
  summary: "Explain a payment: what happened, in order",
  access: "merchant",
  // Enough for all of nearly every payment, so that whoever asks once has read it.
  query: pageQuery.extend({
    limit: z.int().min(1).max(1_000).default(1_000).meta({ description: "Maximum number of entries." }),
  }),
  answers: {
    200: { description: "One page; almost every payment's history fits on one.", schema: eventListAnswer },
  },
  problems: ["invalid_payment_id", "invalid_request", "payment_not_found"],
  async handle({ response, ids, query }, { inWorld }) {
    const { merchant, operator } = callerOf(response);
    const whose = operator ? null : merchant;
    const page = await inWorld(({ readPayments }) => readPayments.history(ids.paymentId, whose, query));
    const present = operator ? presentEvent : presentEventToMerchant;
    return { status: 200, body: { data: page.data.map(present), nextCursor: page.nextCursor } };
  },
});
