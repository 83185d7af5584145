import { z } from "zod";
import { requestSchema } from "../../openapi/schema-names";
import { actBehind } from "../../requests/audit/act-behind";
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
        "Whether the money moved. `pending`: the gateway has not decided either; the review stays open, and the gateway " +
        "is asked again after a day.",
    }),
    evidence: text(2_000).meta({
      description: "How you know: where you looked and what you saw. It is kept in the payment's history.",
    }),
    gatewayReference: text(255).optional().meta({
      description:
        "The gateway's reference for the authorization or the movement; required if an authorization turns out to have succeeded.",
    }),
    overrideReason: text(2_000).optional().meta({
      description:
        "Why the verdict is right although the gateway contradicts it. It is kept in the payment's history.",
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
    "Check at the gateway first: your decision is taken as fact. The gateway is asked once more, no movement of money is " +
    "sent, and a verdict that contradicts its answer is refused unless `overrideReason` says why the gateway is wrong. " +
    "The operator's key, the evidence and the gateway's answer are kept in the payment's history.",
  access: "operator",
  audited: true,
  body: reviewRequest,
  answers: { 200: { description: "The verdict was recorded.", schema: reviewedAnswer } },
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
    const { payment, operation } = await asCaller(request, response, parts, (caller) =>
      parts.reviewOperations.resolve(operationId, verdict, caller, actBehind(request, response)),
    );
    return { status: 200, body: presentReviewed(payment, operation) };
  },
});
