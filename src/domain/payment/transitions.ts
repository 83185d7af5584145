import type { PaymentErrorCode } from "./errors";

/** What is stored. `requires_action`, `capturing`, `voiding` and `refunding` are read off the open operation, not stored twice. */
export type PaymentStatus = "authorizing" | "authorized" | "captured" | "voided" | "expired" | "declined";

export type PaymentTransition =
  | "authorize.succeeded"
  | "authorize.failed"
  /** An authorization that was never sent is wanted once more. */
  | "authorize.again"
  | "capture.succeeded"
  /** Somebody has captured at the gateway, and not through us. */
  | "capture.elsewhere"
  | "void.succeeded"
  /** Somebody has cancelled the authorization at the gateway, and not through us. */
  | "void.elsewhere"
  | "refund.succeeded"
  /** The gateway has taken a refund's success back. */
  | "refund.corrected"
  | "release.succeeded"
  /** The gateway no longer has the authorization. */
  | "authorization.gone"
  /** The authorization's time has passed. */
  | "authorization.lapsed";

/** Everything that can happen to a payment. What is not here cannot. */
export const paymentTransitions: Record<PaymentStatus, Partial<Record<PaymentTransition, PaymentStatus>>> = {
  authorizing: {
    "authorize.succeeded": "authorized",
    "authorize.failed": "declined",
    "authorize.again": "authorizing",
    "authorization.lapsed": "expired",
    // A void in place of the customer, who has not acted.
    "void.succeeded": "voided",
    "authorization.gone": "expired",
  },
  authorized: {
    "capture.succeeded": "captured",
    "capture.elsewhere": "captured",
    "void.succeeded": "voided",
    "void.elsewhere": "voided",
    "authorization.gone": "expired",
    "authorization.lapsed": "expired",
  },
  captured: { "refund.succeeded": "captured", "refund.corrected": "captured" },
  voided: { "release.succeeded": "voided" },
  expired: {
    "release.succeeded": "expired",
    "authorize.again": "authorizing",
    "capture.elsewhere": "captured",
  },
  declined: { "release.succeeded": "declined" },
};

/** Why a movement may not begin in a state. */
export type WrongState = Extract<
  PaymentErrorCode,
  | "payment_expired"
  | "payment_already_captured"
  | "payment_not_capturable"
  | "payment_not_voidable"
  | "payment_not_refundable"
>;

/** The states in which each movement may begin, and what is said in all others. */
export const beginnings: Record<"capture" | "void" | "refund", Record<PaymentStatus, "ok" | WrongState>> = {
  capture: {
    authorizing: "payment_not_capturable",
    authorized: "ok",
    captured: "payment_already_captured",
    voided: "payment_not_capturable",
    expired: "payment_expired",
    declined: "payment_not_capturable",
  },
  void: {
    authorizing: "payment_not_voidable",
    authorized: "ok",
    captured: "payment_not_voidable",
    voided: "payment_not_voidable",
    expired: "payment_not_voidable",
    declined: "payment_not_voidable",
  },
  refund: {
    authorizing: "payment_not_refundable",
    authorized: "payment_not_refundable",
    captured: "ok",
    voided: "payment_not_refundable",
    expired: "payment_not_refundable",
    declined: "payment_not_refundable",
  },
};
