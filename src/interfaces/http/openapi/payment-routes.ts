import { eventQuery, listQuery } from "../endpoints/payments/payment-requests";
import type { ProblemCode } from "../problems/problem-table";
import type { DocumentedRoute } from "./documented-route";

const locked: readonly ProblemCode[] = [
  "lock_timeout",
  "idempotency_key_in_use",
  "lock_unavailable",
  "lock_lost",
];
const inProgress: readonly ProblemCode[] = [
  "authorize_in_progress",
  "capture_in_progress",
  "void_in_progress",
  "refund_in_progress",
  "payment_busy",
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
    summary: "Reserve an amount, or take over an authorization made elsewhere",
    description:
      "The idempotency key belongs to the merchant: the same key with the same body is the same payment, for ever. " +
      "With `gatewayReference` nothing is sent: the gateway is asked about an authorization that was made in a browser, " +
      "say, and one payment is made of it. Its metadata has to name the merchant (`holdfast_merchant`), or the key has to be " +
      "an operator's; every other authorization answers as if it did not exist.",
    access: "merchant",
    movesMoney: true,
    body: "NewPaymentRequest",
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
      "authorization_not_found",
      "authorization_not_capturable",
      "authorization_already_imported",
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
    query: eventQuery,
    answers: [
      { status: 200, description: "One page: of nearly every payment, all of it.", schema: "EventList" },
    ],
    problems: ["invalid_payment_id", "invalid_request", "payment_not_found"],
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
      ...inProgress,
      "payment_already_captured",
      "payment_not_capturable",
      "payment_expired",
      "amount_exceeds_authorized",
      "currency_mismatch",
      "capture_declined",
      "gateway_unavailable",
    ],
  },
  {
    method: "post",
    path: "/payments/{paymentId}/void",
    operationId: "voidPayment",
    tag: "Payments",
    summary: "Let go of the reserved money, once",
    description: "All of it, before anything was captured. What was captured is given back by a refund.",
    access: "merchant",
    movesMoney: true,
    body: "VoidRequest",
    answers: [
      { status: 201, description: "Voided.", schema: "Voided", headers: ["Idempotency-Replayed"] },
      {
        status: 202,
        description: "The gateway has not told yet: the void is `unknown`. Ask again with the same key.",
        schema: "Voided",
        headers: ["Retry-After"],
      },
    ],
    problems: [
      "invalid_payment_id",
      ...keyed,
      ...locked,
      "payment_not_found",
      ...inProgress,
      "payment_not_voidable",
      "payment_expired",
      "void_declined",
      "gateway_unavailable",
    ],
  },
  {
    method: "post",
    path: "/payments/{paymentId}/refunds",
    operationId: "refundPayment",
    tag: "Payments",
    summary: "Give captured money back, whole or in parts",
    description:
      "As often as you like, each time with a key of its own, until all that was captured is given back. " +
      "Without an amount, all that is left.",
    access: "merchant",
    movesMoney: true,
    body: "RefundRequest",
    answers: [
      { status: 201, description: "Refunded.", schema: "Refunded", headers: ["Idempotency-Replayed"] },
      {
        status: 202,
        description: "The gateway has not told yet: the refund is `unknown`. Ask again with the same key.",
        schema: "Refunded",
        headers: ["Retry-After"],
      },
    ],
    problems: [
      "invalid_payment_id",
      ...keyed,
      ...locked,
      "payment_not_found",
      ...inProgress,
      "payment_not_refundable",
      "amount_exceeds_captured",
      "currency_mismatch",
      "refund_declined",
      "gateway_unavailable",
    ],
  },
];
