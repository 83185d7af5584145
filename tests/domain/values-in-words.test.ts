import {
  parseIdempotencyKey,
  parseMerchantId,
  parseOperationId,
  parsePaymentId,
} from "../../src/domain/identifiers";
import { MAX_AMOUNT, money, parseCurrency } from "../../src/domain/money";
import { InvalidValueError } from "../../src/domain/payment/errors";

const refusals: readonly (readonly [
  what: string,
  parse: (text: string) => unknown,
  code: string,
  words: string,
])[] = [
  ["a payment id", parsePaymentId, "invalid_payment_id", "a payment id is a UUID"],
  ["an operation id", parseOperationId, "invalid_operation_id", "an operation id is a UUID"],
  [
    "a merchant",
    parseMerchantId,
    "invalid_merchant",
    "a merchant is 1 to 63 of a-z, 0-9, _ and -, and begins with a letter or digit",
  ],
  [
    "an idempotency key",
    parseIdempotencyKey,
    "invalid_idempotency_key",
    "an idempotency key is 1 to 255 visible ASCII characters without spaces",
  ],
];

test.each(refusals)(
  "what is not %s is refused in words, also where it is no text at all",
  (_, parse, code, words) => {
    for (const value of ["", "no such thing", undefined, null, 5, {}, ["a"]])
      expect(() => parse(value as string)).toThrow(expect.objectContaining({ code, message: words }));
    expect(() => parse("")).toThrow(InvalidValueError);
  },
);

test("what is no currency or no amount is refused in words", () => {
  expect(() => parseCurrency("XAU")).toThrow(
    expect.objectContaining({
      code: "invalid_currency",
      message: "not a currency of ISO 4217 with a minor unit",
    }),
  );
  for (const amount of [0n, -1n, MAX_AMOUNT + 1n])
    expect(() => money(amount, parseCurrency("EUR"))).toThrow(
      expect.objectContaining({
        code: "invalid_amount",
        message: "an amount is 1 to 999999999999 minor units",
      }),
    );
});
