import { z } from "zod";
import type { ReviewCase } from "../../../../application/use-cases/review-operations";
import { answerSchema } from "../../openapi/schema-names";
import { amountOut, idOut, instantOut } from "../../requests/wire-values";
import { endpoint } from "../endpoint";
import { pageQuery } from "../page-query";
import { operationAnswer, operationKind, paymentAnswer } from "../payments/payment-answers";
import { publicOperation } from "../../../../application/public-events/public-payment";
import type { ReviewParts } from "./review-parts";

const reviewListAnswer = answerSchema(
  "ReviewList",
  z.strictObject({
    data: z.array(
      z.strictObject({
        operationId: idOut,
        paymentId: idOut,
        merchant: z.string(),
        kind: operationKind,
        amount: amountOut,
        currency: z.string(),
        currencyExponent: paymentAnswer.shape.currencyExponent,
        status: operationAnswer.shape.status.meta({
          description:
            "The status that callers see. A finished operation is listed if the gateway contradicted it later and it cannot be reopened.",
        }),
        reason: z.string().meta({ description: "Why a person has to decide." }),
        since: instantOut,
        createdAt: instantOut,
        askedAt: instantOut.nullable().meta({ description: "When the gateway was last asked about it." }),
        nextQuestionAt: instantOut.nullable().meta({
          description:
            "When the gateway will be asked next. Null if two of its answers contradict each other: a third would decide nothing.",
        }),
        gatewayKey: z.string().meta({ description: "The idempotency key that was sent to the gateway." }),
        authorizationReference: z
          .string()
          .nullable()
          .meta({ description: "The gateway's reference for the authorization, if it is known." }),
      }),
    ),
    nextCursor: z.string().nullable(),
  }),
);

export const listReviews = endpoint<ReviewParts>()({
  method: "get",
  path: "/reviews",
  operationId: "listReviews",
  tag: "Reviews",
  summary: "List the operations whose outcome a person has to decide, oldest first",
  description:
    "The gateway never reported an outcome, reported two outcomes that cannot both be true, or shows something that " +
    "contradicts the record. The gateway is asked again as long as an operation is listed here; an outcome that it " +
    "reports then ends the review. The metric `holdfast_operations_in_review` counts the same operations.",
  access: "operator",
  query: pageQuery,
  answers: { 200: { description: "One page.", schema: reviewListAnswer } },
  problems: ["invalid_request"],
  async handle({ query }, { reviewOperations }) {
    const { data, nextCursor } = await reviewOperations.list(query);
    return { status: 200, body: { data: data.map(presentCase), nextCursor } };
  },
});

function presentCase(one: ReviewCase): z.output<typeof reviewListAnswer>["data"][number] {
  const { operationId, paymentId, merchant, kind, currency, reason, gatewayKey, authorizationReference } =
    one;
  const { askedAt, dueAt } = one.operation;
  return {
    operationId,
    paymentId,
    merchant,
    kind,
    amount: Number(one.amount),
    currency,
    currencyExponent: one.currencyExponent,
    status: publicOperation(one.operation).status,
    reason,
    since: one.since.toISOString(),
    createdAt: one.createdAt.toISOString(),
    askedAt: askedAt?.toISOString() ?? null,
    nextQuestionAt: dueAt?.toISOString() ?? null,
    gatewayKey,
    authorizationReference,
  };
}
