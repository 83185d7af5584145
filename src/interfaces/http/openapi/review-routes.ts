import { pageQuery } from "../endpoints/payments/payment-requests";
import type { DocumentedRoute } from "./documented-route";

/** What only a person can decide. */
export const reviewRoutes: readonly DocumentedRoute[] = [
  {
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
    answers: [{ status: 200, description: "One page.", schema: "ReviewList" }],
    problems: ["invalid_request"],
  },
  {
    method: "get",
    path: "/reviews/{operationId}",
    operationId: "showReview",
    tag: "Reviews",
    summary: "An operation with its own part of the payment's history, evidence and operators included",
    access: "operator",
    answers: [{ status: 200, description: "As it is now.", schema: "ReviewHistory" }],
    problems: ["invalid_operation_id", "operation_not_found"],
  },
  {
    method: "post",
    path: "/reviews/{operationId}",
    operationId: "resolveReview",
    tag: "Reviews",
    summary: "Decide whether the money moved",
    description:
      "Look at the gateway first: what is decided here is believed. The gateway is asked once more, nothing is sent, and a " +
      "verdict that its answer contradicts is refused unless `overrideReason` says why the gateway is wrong. Who decided, " +
      "by what evidence, and what the gateway said stay in the payment's history.",
    access: "operator",
    body: "ReviewRequest",
    answers: [{ status: 200, description: "Decided, or put off.", schema: "Reviewed" }],
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
  },
];
