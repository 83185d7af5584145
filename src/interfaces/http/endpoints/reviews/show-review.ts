import { z } from "zod";
import { answerSchema } from "../../openapi/schema-names";
import { endpoint } from "../endpoint";
import { paymentEventAnswer } from "../payments/payment-answers";
import { presentEvent } from "../payments/present-event";
import { presentReviewed, reviewedAnswer } from "./review-answers";
import type { ReviewParts } from "./review-parts";

const reviewHistoryAnswer = answerSchema(
  "ReviewHistory",
  reviewedAnswer.extend({ events: z.array(paymentEventAnswer) }),
);

export const showReview = endpoint<ReviewParts>()({
  method: "get",
  path: "/reviews/:operationId",
  operationId: "showReview",
  tag: "Reviews",
  summary: "Show an operation with its part of the payment's history, including evidence and operators",
  access: "operator",
  answers: { 200: { description: "As it is now.", schema: reviewHistoryAnswer } },
  problems: ["invalid_operation_id", "operation_not_found"],
  async handle({ ids }, { reviewOperations }) {
    const { payment, operation, events } = await reviewOperations.one(ids.operationId);
    return {
      status: 200,
      body: { ...presentReviewed(payment, operation), events: events.map(presentEvent) },
    };
  },
});
