import type Stripe from "stripe";
import type { PictureAnswer, PictureRequest } from "../../../application/ports/payment-gateway";
import { isUnitCertain } from "../../../domain/money";
import type {
  DisputeStatus,
  GatewayPicture,
  SeenCancellation,
  SeenDispute,
  SeenMovement,
  SeenRefund,
} from "../../../domain/payment/picture/gateway-picture";
import { fromStripeAmount } from "./stripe-amount";
import { ENDED_BY_ITSELF, operationIdIn } from "./stripe-evidence";
import type { CallOptions } from "./accounts/stripe-clients";
import { allDisputes, allRefunds } from "./stripe-find";
import {
  seePaymentIntent,
  type DisputeSeen,
  type PaymentIntentSeen,
  type RefundSeen,
} from "./stripe-objects";

/** The intent with its charge, its refunds and its disputes: two or three questions. Rejects as the client does. */
export async function drawPicture(
  stripe: Stripe.Stripe,
  { authorizationReference, amount }: PictureRequest,
  options: CallOptions,
): Promise<PictureAnswer> {
  if (!isUnitCertain(amount)) return unknown("currency_unit_unknown");
  const intent = seePaymentIntent(
    await stripe.paymentIntents.retrieve(authorizationReference, { expand: ["latest_charge"] }, options()),
  );
  if (intent === null) return unknown("an answer that makes no sense");
  if (intent.id !== authorizationReference) {
    return unknown(`the answer is about ${intent.id}, not ${authorizationReference}`);
  }
  if (intent.currency.toUpperCase() !== amount.currency) return unknown(`the currency is ${intent.currency}`);
  const isTaken = intent.status === "succeeded";
  const refunds = isTaken ? await allRefunds(stripe, authorizationReference, options) : [];
  const disputes = intent.isDisputed ? await allDisputes(stripe, authorizationReference, options) : [];
  if (refunds === null || disputes === null) return unknown("a list that makes no sense, or is too long");
  try {
    return { outcome: "seen", picture: pictureOf(intent, refunds, disputes) };
  } catch (error) {
    if (error instanceof UnsayableAmount) return unknown(error.message);
    throw error;
  }
}

function pictureOf(
  intent: PaymentIntentSeen,
  refunds: readonly RefundSeen[],
  disputes: readonly DisputeSeen[],
): GatewayPicture {
  return {
    authorization: stateOf(intent),
    authorizedUntil: intent.captureBefore,
    captured: capturedOf(intent),
    cancellation: cancellationOf(intent),
    refunds: refunds.map(refundOf),
    disputes: disputes.map(disputeOf),
  };
}

function stateOf({ status, cancellation_reason }: PaymentIntentSeen): GatewayPicture["authorization"] {
  switch (status) {
    case "requires_capture":
      return "open";
    case "succeeded":
      return "captured";
    case "canceled":
      return ENDED_BY_ITSELF.has(cancellation_reason ?? "") ? "lapsed" : "cancelled";
    // Neither has a way back to `requires_capture`.
    case "requires_payment_method":
      return "lapsed";
    default:
      return "undecided";
  }
}

function capturedOf(intent: PaymentIntentSeen): SeenMovement | null {
  if (intent.status !== "succeeded") return null;
  return {
    reference: intent.latest_charge ?? intent.id,
    amount: said(intent.amount_received, intent.currency),
    operationId: intent.metadata[operationIdIn.capture] ?? null,
  };
}

/** A cancellation takes no metadata. */
function cancellationOf(intent: PaymentIntentSeen): SeenCancellation | null {
  const { id } = intent;
  return stateOf(intent) === "cancelled" ? { reference: id, by: "unnamed" } : null;
}

function refundOf(refund: RefundSeen): SeenRefund {
  const isFailed = refund.status === "failed" || refund.status === "canceled";
  return {
    reference: refund.id,
    amount: said(refund.amount, refund.currency),
    operationId: refund.metadata?.[operationIdIn.refund] ?? null,
    // `pending`, `requires_action`, and whatever is added to them.
    state: refund.status === "succeeded" ? "succeeded" : isFailed ? "failed" : "pending",
    reason: isFailed ? (refund.failure_reason ?? refund.status) : null,
  };
}

/** An inquiry (`warning_…`) is shown as the dispute that it may become. What Stripe adds to these is not decided. */
const disputeStatuses: Readonly<Record<string, DisputeStatus>> = {
  needs_response: "needs_response",
  warning_needs_response: "needs_response",
  under_review: "under_review",
  warning_under_review: "under_review",
  won: "won",
  lost: "lost",
  warning_closed: "closed",
  prevented: "closed",
};

function disputeOf({ id, status, amount, currency, reason, evidence_details }: DisputeSeen): SeenDispute {
  const dueBy = evidence_details?.due_by ?? null;
  return {
    id,
    status: disputeStatuses[status] ?? "under_review",
    amount: said(amount, currency),
    reason,
    dueBy: dueBy === null ? null : new Date(dueBy * 1_000),
  };
}

class UnsayableAmount extends Error {}

function said(amount: number, currency: string): bigint {
  const money = fromStripeAmount(amount, currency);
  if (typeof money === "string") throw new UnsayableAmount(`${money}: ${amount} ${currency}`);
  return money.amount;
}

function unknown(reason: string): PictureAnswer {
  return { outcome: "unknown", reason };
}
