import { z } from "zod";
import { requestSchema } from "../../openapi/schema-names";
import { asCaller } from "../../requests/as-caller";
import { text } from "../../requests/wire-values";
import { endpoint } from "../endpoint";
import { presentReviewed, reviewedAnswer } from "./review-answers";
import type { ReviewParts } from "./review-parts";

/** What a person found out at the gateway. */
const reviewRequest = requestSchema(
  "ReviewRequest",
  z.strictObject({
    outcome: z.enum(["moved", "not_moved", "pending"]).meta({
      description:
        "Whether the money moved. `pending`: the gateway has not decided either; the review goes on, and the next " +
        "question is put off for a day.",
    }),
    evidence: text(2_000).meta({
      description: "How one knows: where one looked, and what was there. It stays in the payment's history.",
    }),
    gatewayReference: text(255).optional().meta({
      description:
        "What the gateway calls the authorization or the movement; needed when an authorization turns out to have succeeded.",
    }),
    overrideReason: text(2_000).optional().meta({
      description:
        "Why the verdict is right although the gateway says something else. It stays in the payment's history.",
    }),
  }),
);

export const resolveReview = endpoint<ReviewParts>()({
  method: "post",
  path: "/reviews/:operationId",
  operationId: "resolveReview",
  tag: "Reviews",
  summary: "Decide whether the money moved",
  description:
    "Look at the gateway first: what is decided here is believed. The gateway is asked once more, nothing is sent, and a " +
    "verdict that its answer contradicts is refused unless `overrideReason` says why the gateway is wrong. Who decided, " +
    "by what evidence, and what the gateway said stay in the payment's history.",
  access: "operator",
  body: reviewRequest,
  answers: { 200: { description: "Decided, or put off.", schema: reviewedAnswer } },
  problems: [
    "invalid_operation_id",
    "operation_not_found",
    "operation_not_in_review",
    "review_contradicts_gateway",
    "review_contradicts_payment",
    "authorize_in_progress",
    "capture_in_progress",
    "void_in_progress",
    "refund_in_progress",
    "gateway_reference_required",
    "authorization_already_imported",
    "payment_busy",
    "lock_timeout",
    "lock_unavailable",
    "lock_lost",
  ],
  async handle({ request, response, ids: { operationId }, body }, parts) {
    const { outcome, evidence, gatewayReference = null, overrideReason = null } = body;
    const verdict = { outcome, evidence, gatewayReference, overrideReason };
    const { payment } = await asCaller(request, response, parts, (caller) =>
      parts.reviewOperations.resolve(operationId, verdict, caller),
    );
    return { status: 200, body: presentReviewed(payment, payment.must(operationId)) };
  },
});
