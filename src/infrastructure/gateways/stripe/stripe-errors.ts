import { SecretsKeyError } from "../../../application/ports/events/secret-box";
import type { OperationKind } from "../../../domain/payment/operation";
import { StripeTransportError } from "./stripe-transport";

const accountKeyCodes = {
  /** The store does not answer: over by itself. */
  unread: "account_key_unavailable",
  /** It is there and does not open: for as long as no operator changes the keys. */
  unopened: "account_key_not_opened",
} as const;

/** What opens an account could not be read: nothing was sent. */
export class AccountKeyError extends Error {
  override readonly name = "AccountKeyError";
  readonly code: (typeof accountKeyCodes)[keyof typeof accountKeyCodes];

  constructor(account: string, cause: unknown) {
    super(`the key of ${account} cannot be read`, { cause });
    this.code = accountKeyCodes[cause instanceof SecretsKeyError ? "unopened" : "unread"];
  }
}

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
  /** Of what was not sent: not for this once, but as long as the key and the account are as they are. */
  readonly refused?: true;
}

interface ErrorRow {
  readonly when: (failure: StripeFailure, kind?: OperationKind) => boolean;
  readonly means: ErrorMeaning["outcome"];
}

/**
 * Refused while the parameters were read, the same way for every copy of the request, or for good by the account. A copy
 * that was accepted before is answered from the memory of its key, and never comes to be refused.
 */
const REFUSALS = new Set([
  "parameter_missing",
  "parameter_unknown",
  "parameters_exclusive",
  "parameter_invalid_empty",
  "parameter_invalid_string_blank",
  "parameter_invalid_string_empty",
  "payment_intent_invalid_parameter",
  "payment_intent_incompatible_payment_method",
  "payment_method_unsupported_type",
  "payment_method_billing_details_address_missing",
  "charge_exceeds_source_limit",
  "charge_exceeds_transaction_limit",
  "country_unsupported",
  "testmode_charges_only",
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

/**
 * What is said about these without a code is about the request alone: no such currency for this account, an amount that
 * the currency cannot have. `amount` is not among them: a refund uses the word for what is left of the payment, too.
 */
const REFUSED_PARAMETERS = new Set(["currency", "amount_to_capture"]);

const NAMED_PARAMETERS = new Set([...REFUSED_PARAMETERS, "amount"]);

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
  {
    when: (failure) => accountKeyCodeOf(failure) !== null,
    means: "not_sent",
  },
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
  {
    when: ({ code }) =>
      code === "charge_expired_for_capture" || code === "capture_charge_authorization_expired",
    means: "authorization_gone",
  },
  { when: ({ statusCode, rawType }) => statusCode === 402 && rawType === "card_error", means: "declined" },
  { when: ({ statusCode, code = "" }) => statusCode === 400 && STATE_CODES.has(code), means: "look" },
  { when: ({ statusCode, code = "" }) => statusCode === 400 && REFUSALS.has(code), means: "declined" },
  // A payment method that does not exist. An intent that does not (404) is more likely a wrong API key: unknown.
  {
    when: ({ statusCode, code, param }) =>
      statusCode === 400 && code === "resource_missing" && param === "payment_method",
    means: "declined",
  },
  { when: (failure) => isAbout(failure, REFUSED_PARAMETERS), means: "declined" },
  // Nothing is there before it is authorized that its amount could be too much of.
  {
    when: (failure, kind) => kind === "authorize" && isAbout(failure, new Set(["amount"])),
    means: "declined",
  },
  // Refunding more than is left has no code of its own.
  {
    when: (failure) => isAbout(failure, new Set(["amount"])),
    means: "look",
  },
];

/** `kind` is what was being sent; left out for a question. */
export function meaningOf(error: unknown, kind?: OperationKind): ErrorMeaning {
  const failure = (typeof error === "object" && error !== null ? error : {}) as StripeFailure;
  const row = rows.find(({ when }) => when(failure, kind));
  const isRefused =
    failure.statusCode === 401 ||
    failure.statusCode === 403 ||
    accountKeyCodeOf(failure) === accountKeyCodes.unopened;
  return {
    outcome: row?.means ?? "unknown",
    reason: reasonOf(failure),
    ...(isRefused && row?.means === "not_sent" && { refused: true }),
  };
}

function isAbout({ statusCode, rawType, code, param }: StripeFailure, parameters: Set<string>): boolean {
  return (
    statusCode === 400 &&
    rawType === "invalid_request_error" &&
    code === undefined &&
    param !== undefined &&
    parameters.has(param)
  );
}

/** Codes only: Stripe's sentences may quote what was sent. */
function reasonOf(failure: StripeFailure): string {
  const { detail, decline_code, code, rawType, statusCode, param } = failure;
  if (statusCode === undefined)
    return accountKeyCodeOf(failure) ?? transport(detail)?.message ?? "no answer that makes sense";
  if (param !== undefined && isAbout(failure, NAMED_PARAMETERS)) return `invalid_${param}`;
  return decline_code ?? code ?? rawType ?? `http_${statusCode}`;
}

/** Stripe's own codes come with a status. */
function accountKeyCodeOf({ statusCode, code }: StripeFailure): AccountKeyError["code"] | null {
  if (statusCode !== undefined) return null;
  return Object.values(accountKeyCodes).find((known) => known === code) ?? null;
}

function transport(detail: unknown): StripeTransportError | null {
  return detail instanceof StripeTransportError ? detail : null;
}
