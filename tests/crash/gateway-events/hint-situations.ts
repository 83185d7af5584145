import type { StripeFault } from "../../support/stripe-stand-in/stripe-stand-in";

export const AMOUNT = 1_000;
export const REFUNDED = 400;

type Kind = "authorize" | "capture" | "refund";

/** What a payment has been through before Stripe hints at it, and what is to be known of it in the end. */
export interface Situation {
  /** The requests to us, in order; each may go wrong at Stripe. */
  readonly requests: readonly { readonly kind: Kind; readonly fault?: StripeFault }[];
  readonly inTheDashboard?: "captured" | "refunded" | "disputed";
  /** Which save tells what happened: the end of an operation, or what the picture shows. */
  readonly written: "settle" | "observe";
  /** Each of these is in the history as often as it is here. */
  readonly history: readonly string[];
  /** What the key of the last request is answered in the end. */
  readonly answer: 201 | 402;
  /** A person decides about it: our capture found the money taken. */
  readonly isReviewed?: true;
}

const authorized = { kind: "authorize" } as const;
const captured = { kind: "capture" } as const;

export const situations = {
  "a capture whose answer was lost": {
    requests: [authorized, { kind: "capture", fault: "stored_500_after_acting" }],
    written: "settle",
    history: ["capture.unknown", "capture.succeeded"],
    answer: 201,
  },
  "an authorization whose answer was lost": {
    requests: [{ kind: "authorize", fault: "stored_500_after_acting" }],
    written: "settle",
    history: ["authorize.unknown", "payment.authorized"],
    answer: 201,
  },
  "a refund that fails after it has succeeded": {
    requests: [authorized, captured, { kind: "refund", fault: "fails_later" }],
    written: "settle",
    history: ["refund.succeeded", "refund.failed"],
    // What its key was answered once is answered for good.
    answer: 201,
  },
  "a refund that fails late while another one is open": {
    requests: [
      authorized,
      captured,
      { kind: "refund", fault: "fails_later" },
      { kind: "refund", fault: "stored_500_after_acting" },
    ],
    written: "settle",
    history: ["refund.succeeded", "refund.failed", "refund.unknown", "refund.succeeded"],
    answer: 201,
  },
  "a capture in the dashboard": {
    requests: [authorized],
    inTheDashboard: "captured",
    written: "observe",
    history: ["capture.succeeded"],
    answer: 201,
  },
  "a capture in the dashboard while ours is unknown": {
    requests: [authorized, { kind: "capture", fault: "error_before_acting" }],
    inTheDashboard: "captured",
    written: "settle",
    history: ["capture.unknown", "operation.needs_review", "review.resolved", "capture.succeeded"],
    answer: 402,
    isReviewed: true,
  },
  "a refund in the dashboard": {
    requests: [authorized, captured],
    inTheDashboard: "refunded",
    written: "observe",
    history: ["capture.succeeded", "refund.succeeded"],
    answer: 201,
  },
  "a dispute": {
    requests: [authorized, captured],
    inTheDashboard: "disputed",
    written: "observe",
    history: ["capture.succeeded", "dispute.opened"],
    answer: 201,
  },
} as const satisfies Record<string, Situation>;

export type SituationName = keyof typeof situations;
