import { z } from "zod";
import type { ReviewCase } from "../../../../application/use-cases/review-operations";
import { answerSchema } from "../../openapi/schema-names";
import { amountOut, idOut, instantOut } from "../../requests/wire-values";
import { endpoint } from "../endpoint";
import { pageQuery } from "../page-query";
import { operationAnswer, operationKind, paymentAnswer } from "../payments/payment-answers";
import { presentOperation } from "../payments/present-payment";
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
            "What callers are told. One that has ended was contradicted since, and cannot be opened again as things are.",
        }),
        reason: z.string().meta({ description: "Why only a person can decide." }),
        since: instantOut,
        createdAt: instantOut,
        askedAt: instantOut.nullable().meta({ description: "When the gateway was asked about it last." }),
        nextQuestionAt: instantOut.nullable().meta({
          description:
            "When it is asked next. Null where two answers contradict each other: a third decides nothing.",
        }),
        gatewayKey: z.string().meta({ description: "The idempotency key that the gateway was sent." }),
        authorizationReference: z
          .string()
          .nullable()
          .meta({ description: "What the gateway calls the authorization, if it ever said so." }),
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
    "The gateway never told what became of them, told two things that cannot both be true, or shows something that " +
    "does not fit. The gateway is asked about them as long as they are here; what it tells after all ends the review. " +
    "What `holdfast_operations_in_review` counts is listed.",
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
    status: presentOperation(one.operation).status,
    reason,
    since: one.since.toISOString(),
    createdAt: one.createdAt.toISOString(),
    askedAt: askedAt?.toISOString() ?? null,
    nextQuestionAt: dueAt?.toISOString() ?? null,
    gatewayKey,
    authorizationReference,
  };
}
