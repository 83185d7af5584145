import { StripeTransportError } from "./stripe-transport";

/** What is read of an error of the official package. By its fields: classes differ between module copies. */
interface StripeFailure {
  readonly statusCode?: number;
  /** `card_error`, `invalid_request_error`, `idempotency_error`, `api_error`. */
  readonly rawType?: string;
  readonly code?: string;
  readonly decline_code?: string;
  readonly param?: string;
  readonly detail?: unknown;
}

/** What an error means, or that only the object's present state can tell. */
export interface ErrorMeaning {
  readonly outcome: "declined" | "authorization_gone" | "not_sent" | "unknown" | "look";
  readonly reason: string;
}

interface ErrorRow {
  readonly when: (failure: StripeFailure) => boolean;
  readonly means: ErrorMeaning["outcome"];
}

/** Refused while the parameters were read, the same way for every copy of the request, or for good by the account. */
const REFUSALS = new Set([
  "amount_too_large",
  "amount_too_small",
  "invalid_charge_amount",
  "invalid_charge_amount_no_decimal_compatible",
  "parameter_invalid_integer",
  "balance_insufficient",
  "insufficient_funds",
  "charge_disputed",
  "refund_disputed_payment",
  "charge_not_refundable",
  "payment_method_unactivated",
  "payment_method_invalid_parameter",
  "payment_method_currency_mismatch",
  "payment_method_unexpected_state",
]);

/** The object is not in a state for this: perhaps because this very operation has changed it already. */
const STATE_CODES = new Set([
  "payment_intent_unexpected_state",
  "intent_invalid_state",
  "charge_already_captured",
  "charge_already_refunded",
]);

/**
 * The first row that applies. What is not here is `unknown`: an error nobody thought of is no refusal. docs/stripe.md
 * has the same table in words.
 */
const rows: readonly ErrorRow[] = [
  // Never connected: refused, no such host, no TLS, timed out before there was a connection.
  { when: ({ detail }) => transport(detail)?.mayHaveArrived === false, means: "not_sent" },
  { when: ({ detail }) => transport(detail) !== null, means: "unknown" },
  // Another request holds the object. Said from inside, so it may have become this key's answer.
  { when: ({ code }) => code === "lock_timeout", means: "unknown" },
  // Turned away in front of everything that remembers keys or moves money.
  {
    when: ({ statusCode }) => statusCode === 429 || statusCode === 401 || statusCode === 403,
    means: "not_sent",
  },
  // 409: the same key is being carried out right now. 5xx: perhaps done, perhaps not, and now this key's answer.
  { when: ({ statusCode = 0 }) => statusCode === 409 || statusCode >= 500, means: "unknown" },
  { when: ({ rawType }) => rawType === "idempotency_error", means: "unknown" },
  { when: ({ code }) => code === "charge_expired_for_capture", means: "authorization_gone" },
  { when: ({ statusCode, rawType }) => statusCode === 402 && rawType === "card_error", means: "declined" },
  { when: ({ statusCode, code = "" }) => statusCode === 400 && STATE_CODES.has(code), means: "look" },
  { when: ({ statusCode, code = "" }) => statusCode === 400 && REFUSALS.has(code), means: "declined" },
  // A payment method that does not exist. An intent that does not (404) is more likely a wrong API key: unknown.
  {
    when: ({ statusCode, code, param }) =>
      statusCode === 400 && code === "resource_missing" && param === "payment_method",
    means: "declined",
  },
  // Refunding more than is left has no code of its own.
  {
    when: ({ statusCode, code, param }) => statusCode === 400 && code === undefined && param === "amount",
    means: "look",
  },
];

export function meaningOf(error: unknown): ErrorMeaning {
  const failure = (typeof error === "object" && error !== null ? error : {}) as StripeFailure;
  return { outcome: rows.find(({ when }) => when(failure))?.means ?? "unknown", reason: reasonOf(failure) };
}

/** Codes only: Stripe's sentences may quote what was sent. */
function reasonOf({ detail, decline_code, code, rawType, statusCode }: StripeFailure): string {
  if (statusCode === undefined) return transport(detail)?.message ?? "no answer that makes sense";
  return decline_code ?? code ?? rawType ?? `http_${statusCode}`;
}

function transport(detail: unknown): StripeTransportError | null {
  return detail instanceof StripeTransportError ? detail : null;
}
