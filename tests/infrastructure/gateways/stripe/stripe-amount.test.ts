import { currencyExponent, money, parseCurrency } from "../../../../src/domain/money";
import {
  fromStripeAmount,
  toStripeAmount,
} from "../../../../src/infrastructure/gateways/stripe/stripe-amount";

/** So that the test says the same whatever the platform thinks a currency's minor unit is. */
function major(units: number, code: string) {
  const currency = parseCurrency(code);
  return money(BigInt(units) * 10n ** BigInt(currencyExponent(currency)), currency);
}

describe("amounts in Stripe's unit", () => {
  it.each([
    ["EUR", 1_200],
    ["JPY", 12],
    ["KRW", 12],
    ["KWD", 12_000],
    // Hundredths at Stripe although the platform, or the country, knows none.
    ["HUF", 1_200],
    ["IDR", 1_200],
    ["ISK", 1_200],
    ["UGX", 1_200],
    // The other way round.
    ["MGA", 12],
  ])("12 %s are %d", (code, amount) => {
    expect(toStripeAmount(major(12, code))).toBe(amount);
    expect(fromStripeAmount(amount, code.toLowerCase())).toEqual(major(12, code));
  });

  it("is there and back the same for every currency of the platform, or cannot be said", () => {
    for (const code of Intl.supportedValuesOf("currency")) {
      for (const amount of [1n, 10n, 1_000n, 999_999_999_999n]) {
        const said = toStripeAmount(money(amount, parseCurrency(code)));
        if (said === null) continue;
        expect(Number.isSafeInteger(said)).toBe(true);
        expect(fromStripeAmount(said, code)).toEqual(money(amount, parseCurrency(code)));
      }
    }
  });

  it("is never rounded", () => {
    expect(fromStripeAmount(1_250, "huf")).toBeNull();
    expect(fromStripeAmount(1.5, "eur")).toBeNull();
  });
});
