import { listQuery } from "../payment-requests";
import type { ProblemCode } from "../problem-table";
import type { DocumentedRoute } from "./documented-route";

const locked: readonly ProblemCode[] = [
  "lock_timeout",
  "idempotency_key_in_use",
  "lock_unavailable",
  "lock_lost",
];
const keyed: readonly ProblemCode[] = [
  "idempotency_key_required",
  "invalid_idempotency_key",
  "idempotency_key_reused",
];

/** The payments of one world, under a prefix. */
export const paymentRoutes: readonly DocumentedRoute[] = [
  {
    method: "post",
    path: "/payments",
    operationId: "authorizePayment",
    tag: "Payments",
    summary: "Reserve an amount",
    description:
      "The idempotency key belongs to the merchant: the same key with the same body is the same payment, for ever.",
    access: "merchant",
    movesMoney: true,
    body: "AuthorizeRequest",
    answers: [
      {
        status: 201,
        description: "Authorized.",
        schema: "OnePayment",
        headers: ["Location", "Idempotency-Replayed"],
      },
      {
        status: 202,
        description:
          "The gateway has not told yet: the payment is `authorizing`. Ask again with the same key.",
        schema: "OnePayment",
        headers: ["Location", "Retry-After"],
      },
    ],
    problems: [
      ...keyed,
      ...locked,
      "authorization_declined",
      "authorize_in_progress",
      "payment_busy",
      "gateway_unavailable",
    ],
  },
  {
    method: "get",
    path: "/payments",
    operationId: "listPayments",
    tag: "Payments",
    summary: "List payments, newest first",
    access: "merchant",
    query: listQuery,
    answers: [{ status: 200, description: "One page.", schema: "PaymentList" }],
    problems: ["invalid_request"],
  },
  {
    method: "get",
    path: "/payments/{paymentId}",
    operationId: "showPayment",
    tag: "Payments",
    summary: "Show a payment",
    access: "merchant",
    answers: [{ status: 200, description: "As it is now.", schema: "OnePayment" }],
    problems: ["invalid_payment_id", "payment_not_found"],
  },
  {
    method: "get",
    path: "/payments/{paymentId}/events",
    operationId: "listPaymentEvents",
    tag: "Payments",
    summary: "Explain a payment: what happened, in order",
    access: "merchant",
    answers: [{ status: 200, description: "All of it.", schema: "EventList" }],
    problems: ["invalid_payment_id", "payment_not_found"],
  },
  {
    method: "post",
    path: "/payments/{paymentId}/capture",
    operationId: "capturePayment",
    tag: "Payments",
    summary: "Take the money, once",
    description:
      "All that is authorized, or less; the rest is released. Callers with one key all get the same answer; " +
      "of callers with different keys one captures.",
    access: "merchant",
    movesMoney: true,
    body: "CaptureRequest",
    answers: [
      { status: 201, description: "Captured.", schema: "Captured", headers: ["Idempotency-Replayed"] },
      {
        status: 202,
        description: "The gateway has not told yet: the capture is `unknown`. Ask again with the same key.",
        schema: "Captured",
        headers: ["Retry-After"],
      },
    ],
    problems: [
      "invalid_payment_id",
      ...keyed,
      ...locked,
      "payment_not_found",
      "authorize_in_progress",
      "capture_in_progress",
      "void_in_progress",
      "refund_in_progress",
      "payment_busy",
      "payment_already_captured",
      "payment_not_capturable",
      "payment_expired",
      "amount_exceeds_authorized",
      "currency_mismatch",
      "capture_declined",
      "gateway_unavailable",
    ],
  },
];
