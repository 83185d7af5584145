import { meaningOf } from "../../../../src/infrastructure/gateways/stripe/stripe-errors";
import { StripeTransportError } from "../../../../src/infrastructure/gateways/stripe/stripe-transport";

const request400 = { statusCode: 400, rawType: "invalid_request_error" };

describe("what an error of Stripe means", () => {
  it.each([
    [
      "a card that is declined",
      { statusCode: 402, rawType: "card_error", code: "card_declined", decline_code: "lost_card" },
      "declined",
      "lost_card",
    ],
    ["a 402 that is no card's", { statusCode: 402, rawType: "api_error" }, "unknown", "api_error"],
    [
      "a lapsed authorization",
      { ...request400, code: "charge_expired_for_capture" },
      "authorization_gone",
      "charge_expired_for_capture",
    ],
    [
      "an unexpected state",
      { ...request400, code: "payment_intent_unexpected_state" },
      "look",
      "payment_intent_unexpected_state",
    ],
    [
      "a refund of what is refunded",
      { ...request400, code: "charge_already_refunded" },
      "look",
      "charge_already_refunded",
    ],
    ["a refund of more than is left", { ...request400, param: "amount" }, "look", "invalid_amount"],
    [
      "a currency that the account has not",
      { ...request400, param: "currency" },
      "declined",
      "invalid_currency",
    ],
    [
      "an amount that cannot be captured in this currency",
      { ...request400, param: "amount_to_capture" },
      "declined",
      "invalid_amount_to_capture",
    ],
    [
      "a parameter nobody listed",
      { ...request400, param: "capture_method" },
      "unknown",
      "invalid_request_error",
    ],
    [
      "a currency that a broken server complains of",
      { statusCode: 500, rawType: "api_error", param: "currency" },
      "unknown",
      "api_error",
    ],
    [
      "a key reused with another currency",
      { statusCode: 400, rawType: "idempotency_error", param: "currency" },
      "unknown",
      "idempotency_error",
    ],
    ...[
      "amount_too_small",
      "amount_too_large",
      "invalid_charge_amount",
      "invalid_charge_amount_no_decimal_compatible",
      "parameter_invalid_integer",
      "parameter_missing",
      "parameter_unknown",
      "payment_method_currency_mismatch",
      "payment_method_unsupported_type",
      "charge_exceeds_transaction_limit",
      "country_unsupported",
    ].map((code): [string, object, string, string] => [code, { ...request400, code }, "declined", code]),
    [
      "an authorization that has expired, in its other words",
      { ...request400, code: "capture_charge_authorization_expired" },
      "authorization_gone",
      "capture_charge_authorization_expired",
    ],
    [
      "an amount above the authorized one",
      { ...request400, code: "amount_too_large", param: "amount_to_capture" },
      "declined",
      "amount_too_large",
    ],
    [
      "an unknown payment method",
      { ...request400, code: "resource_missing", param: "payment_method" },
      "declined",
      "resource_missing",
    ],
    [
      "an unknown payment intent",
      { statusCode: 404, rawType: "invalid_request_error", code: "resource_missing", param: "intent" },
      "unknown",
      "resource_missing",
    ],
    ["a 400 that nobody thought of", { ...request400, code: "brand_new_code" }, "unknown", "brand_new_code"],
    [
      "a key reused for something else",
      { statusCode: 400, rawType: "idempotency_error" },
      "unknown",
      "idempotency_error",
    ],
    [
      "a key in use",
      { statusCode: 409, rawType: "invalid_request_error", code: "idempotency_key_in_use" },
      "unknown",
      "idempotency_key_in_use",
    ],
    ["an object in use", { statusCode: 429, code: "lock_timeout" }, "unknown", "lock_timeout"],
    ["too many requests", { statusCode: 429, code: "rate_limit" }, "not_sent", "rate_limit"],
    [
      "a wrong API key",
      { statusCode: 401, rawType: "invalid_request_error" },
      "not_sent",
      "invalid_request_error",
    ],
    ["a restricted API key", { statusCode: 403 }, "not_sent", "http_403"],
    ["a 500", { statusCode: 500, rawType: "api_error" }, "unknown", "api_error"],
    [
      "a 503 that calls itself a decline",
      { statusCode: 503, rawType: "card_error", code: "card_declined" },
      "unknown",
      "card_declined",
    ],
    [
      "no connection",
      { detail: new StripeTransportError("ECONNREFUSED", false) },
      "not_sent",
      "ECONNREFUSED",
    ],
    [
      "a broken connection",
      { detail: new StripeTransportError("ECONNRESET", true) },
      "unknown",
      "ECONNRESET",
    ],
    [
      "an answer that is no JSON",
      { message: "Invalid JSON received" },
      "unknown",
      "no answer that makes sense",
    ],
    ["no error at all", undefined, "unknown", "no answer that makes sense"],
  ] as [string, object | undefined, string, string][])(
    "an error of Stripe that is %s has its meaning",
    (_name, error, outcome, reason) => {
      const { refused, ...meaning } = meaningOf(error);
      expect(meaning).toEqual({ outcome, reason });
      // Only these are for as long as a person changes nothing.
      const { statusCode } = (error ?? {}) as { readonly statusCode?: number };
      expect(refused === true).toBe(statusCode === 401 || statusCode === 403);
    },
  );

  it("an error of Stripe is a refusal if it is about the amount of what is only being authorized", () => {
    const error = { ...request400, param: "amount" };
    expect(meaningOf(error, "authorize")).toEqual({ outcome: "declined", reason: "invalid_amount" });
    for (const kind of ["capture", "void", "refund"] as const)
      expect(meaningOf(error, kind)).toEqual({ outcome: "look", reason: "invalid_amount" });
  });
});
