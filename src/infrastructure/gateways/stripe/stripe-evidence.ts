import type { FindAnswer, FindRequest, Mismatch } from "../../../application/ports/payment-gateway";
import { isUnitCertain } from "../../../domain/money";
import { toStripeAmount } from "./stripe-amount";
import type { PaymentIntentSeen, RefundSeen } from "./stripe-objects";

/** Where each operation leaves its id at Stripe. A void has nowhere: a cancellation takes no metadata. */
export const operationIdIn = {
  authorize: "holdfast_authorize",
  capture: "holdfast_capture",
  refund: "holdfast_refund",
} as const;
export const PAYMENT_ID = "holdfast_payment";
/** Written by whoever makes an intent elsewhere: the merchant that may import it. */
export const MERCHANT = "holdfast_merchant";

/** What is compared with Stripe's objects. */
export type Sought = Pick<FindRequest, "operationId" | "paymentId" | "amount">;

/** Cancelled by Stripe itself, because nobody captured in time. */
export const ENDED_BY_ITSELF = new Set(["automatic", "expired"]);

/** `isKnown`: its reference is here, so a capture of ours that came after it was made with an authorization that there was. */
export function authorizeEvidence(
  intent: PaymentIntentSeen,
  sought: Sought,
  { isKnown = false } = {},
): FindAnswer {
  const other = differences(intent, intent.amount, operationIdIn.authorize, sought);
  if (other !== null) return mismatch(intent.id, other);
  switch (intent.status) {
    case "requires_capture":
      return intent.amount_capturable === intent.amount
        ? { ...succeeded(intent.id), ...(intent.captureBefore && { expiresAt: intent.captureBefore }) }
        : mismatch(intent.id, `only ${intent.amount_capturable} of ${intent.amount} are capturable`);
    case "processing":
      return { outcome: "pending", reference: intent.id };
    case "requires_action":
      return actionOf(intent);
    case "requires_payment_method":
    case "requires_confirmation":
      return refusedAtConfirmation(intent);
    case "canceled":
      return { outcome: "authorization_gone", reason: cancellation(intent) };
    case "succeeded":
      if (isKnown && intent.metadata[operationIdIn.capture] !== undefined) return succeeded(intent.id);
      return mismatch(intent.id, "captured before this service knew of the authorization");
    default:
      return { outcome: "unknown", reason: intent.status };
  }
}

export function captureEvidence(intent: PaymentIntentSeen, sought: Sought): FindAnswer {
  switch (intent.status) {
    case "succeeded": {
      const other = differences(intent, intent.amount_received, operationIdIn.capture, sought);
      return other === null ? succeeded(intent.latest_charge ?? intent.id) : mismatch(intent.id, other);
    }
    case "requires_capture":
      return { outcome: "absent" };
    case "processing":
      return { outcome: "pending", reference: intent.latest_charge ?? intent.id };
    // Neither state has a way back to `requires_capture`: no copy of the request that is still on its way can capture.
    case "canceled":
      return {
        outcome: "authorization_gone",
        reason: cancellation(intent),
        ...(!ENDED_BY_ITSELF.has(intent.cancellation_reason ?? "") && { cancelled: true }),
      };
    case "requires_payment_method":
      return { outcome: "authorization_gone", reason: intent.status };
    default:
      return { outcome: "unknown", reason: intent.status };
  }
}

export function voidEvidence(intent: PaymentIntentSeen, sought: Sought): FindAnswer {
  // A cancellation names no amount. Where the unit of ours is not certain, the intent alone says what was let go.
  const otherAmount = isUnitCertain(sought.amount) && intent.amount !== toStripeAmount(sought.amount);
  if (otherAmount || !sameCurrency(intent, sought)) {
    return mismatch(intent.id, `${intent.amount} ${intent.currency} are authorized`);
  }
  switch (intent.status) {
    case "canceled":
      return ENDED_BY_ITSELF.has(intent.cancellation_reason ?? "")
        ? { outcome: "authorization_gone", reason: cancellation(intent) }
        : succeeded(intent.id);
    case "requires_capture":
    case "requires_action":
      return { outcome: "absent" };
    case "requires_payment_method":
      return { outcome: "authorization_gone", reason: intent.status };
    case "succeeded":
      return {
        ...mismatch(
          intent.id,
          `${intent.amount_received} ${intent.currency} captured, while it was to be voided`,
          intent.latest_charge ?? intent.id,
        ),
        captured: true,
      };
    default:
      return { outcome: "unknown", reason: intent.status };
  }
}

export function refundEvidence(refund: RefundSeen, intentId: string, sought: Sought): FindAnswer {
  const other = differences(refund, refund.amount, operationIdIn.refund, sought);
  if (other !== null) return mismatch(refund.id, other);
  if (refund.payment_intent !== intentId) {
    return mismatch(refund.id, `a refund of ${refund.payment_intent ?? "nothing"}, not of ${intentId}`);
  }
  switch (refund.status) {
    case "succeeded":
      return succeeded(refund.id);
    case "failed":
    case "canceled":
      return { outcome: "declined", reason: refund.failure_reason ?? refund.status };
    case "pending":
    case "requires_action":
      return { outcome: "pending", reference: refund.id };
    default:
      return { outcome: "unknown", reason: refund.status ?? "no status" };
  }
}

interface Labelled {
  readonly currency: string;
  readonly metadata: Readonly<Record<string, string>> | null;
}

function differences(object: Labelled, amount: number, label: string, sought: Sought): string | null {
  const operationId = object.metadata?.[label];
  if (operationId !== sought.operationId) return `${label} is ${operationId ?? "missing"}`;
  if (amount !== toStripeAmount(sought.amount) || !sameCurrency(object, sought)) {
    return `the amount is ${amount} ${object.currency}`;
  }
  return null;
}

/** Codes to be typed in and vouchers to be paid are for pages of the merchant's own, which import what comes of it. */
function actionOf({ id, next_action }: PaymentIntentSeen): FindAnswer {
  const url = next_action?.redirect_to_url?.url ?? "";
  if (URL.canParse(url)) return { outcome: "requires_action", reference: id, url };
  return mismatch(id, `it waits for ${next_action?.type ?? "the customer"}, which is no page to go to`);
}

function refusedAtConfirmation({ last_payment_error: error, status }: PaymentIntentSeen): FindAnswer {
  const reason = error?.decline_code ?? error?.code;
  // Without an error nobody has tried to confirm it yet.
  return reason === undefined ? { outcome: "unknown", reason: status } : { outcome: "declined", reason };
}

function cancellation(intent: PaymentIntentSeen): string {
  return `canceled: ${intent.cancellation_reason ?? "no reason given"}`;
}

function sameCurrency({ currency }: Labelled, sought: Sought): boolean {
  return currency.toUpperCase() === sought.amount.currency;
}

function succeeded(reference: string): FindAnswer {
  return { outcome: "succeeded", reference };
}

function mismatch(id: string, what: string, reference = id): Mismatch {
  return { outcome: "mismatch", evidence: `${id}: ${what}`, reference };
}
