import { pageQuery } from "../payment-requests";
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
      "does not fit. Until somebody decides, they count as open.",
    access: "operator",
    query: pageQuery,
    answers: [{ status: 200, description: "One page.", schema: "ReviewList" }],
    problems: ["invalid_request"],
  },
  {
    method: "post",
    path: "/reviews/{operationId}",
    operationId: "resolveReview",
    tag: "Reviews",
    summary: "Decide whether the money moved",
    description:
      "Look at the gateway first: what is decided here is believed. Who decided, and by what evidence, stays in the " +
      "payment's history.",
    access: "operator",
    body: "ReviewRequest",
    answers: [{ status: 200, description: "Decided.", schema: "Reviewed" }],
    problems: [
      "invalid_operation_id",
      "operation_not_found",
      "operation_not_in_review",
      "review_contradicts_payment",
      "gateway_reference_required",
      "authorization_already_imported",
      "payment_busy",
      "lock_timeout",
      "lock_unavailable",
      "lock_lost",
    ],
  },
];
