import { money, parseCurrency, type Currency } from "../../../../src/domain/money";
import {
  fromStripeAmount,
  toStripeAmount,
} from "../../../../src/infrastructure/gateways/stripe/stripe-amount";

// Every currency, against a file: tests/contracts/payment-gateways/amounts.test.ts.
describe("amounts in Stripe's unit", () => {
  it.each([
    ["EUR", 1_200n, 1_200],
    ["HUF", 1_200n, 1_200],
    ["IDR", 1_200n, 1_200],
    ["JPY", 12n, 12],
    ["KWD", 12_000n, 12_000],
    // Hundredths at Stripe although ISO 4217 knows none.
    ["ISK", 12n, 1_200],
    ["UGX", 12n, 1_200],
    // The other way round.
    ["MGA", 1_200n, 12],
  ])("an amount in Stripe's unit of %s: %d are %d", (code, units, amount) => {
    expect(toStripeAmount(money(units, parseCurrency(code)))).toBe(amount);
    expect(fromStripeAmount(amount, code.toLowerCase())).toEqual(money(units, parseCurrency(code)));
  });

  it("an amount in Stripe's unit is never rounded", () => {
    expect(fromStripeAmount(1_250, "isk")).toBe("amount_not_representable");
    expect(fromStripeAmount(1.5, "eur")).toBe("amount_not_representable");
    expect(toStripeAmount(money(1_250n, parseCurrency("MGA")))).toBe("amount_not_representable");
    // The last of three decimals has to be 0.
    expect(toStripeAmount(money(1_251n, parseCurrency("KWD")))).toBe("amount_not_representable");
    expect(fromStripeAmount(1_251, "kwd")).toBe("amount_not_representable");
  });

  it("an amount in Stripe's unit is not guessed where Stripe names no unit", () => {
    for (const code of ["IQD", "LYD", "CLF", "UYW", "UYI"])
      expect(toStripeAmount(money(1_000n, parseCurrency(code)))).toBe("currency_not_supported");
    expect(fromStripeAmount(1_000, "lyd")).toBe("currency_not_supported");
    expect(fromStripeAmount(1_000, "xyz")).toBe("currency_not_supported");
  });

  it("an amount in Stripe's unit follows the exponent that was kept with the amount, or does not exist", () => {
    const kept = (currency: string, exponent: number | null) =>
      toStripeAmount({ amount: 1_000n, currency: currency as Currency, exponent });
    expect(kept("HUF", 2)).toBe(1_000);
    expect(kept("HUF", 0)).toBe("currency_unit_unknown");
    expect(kept("EUR", null)).toBe("currency_unit_unknown");
    expect(kept("DEM", null)).toBe("currency_unit_unknown");
    // Withdrawn, and what it was is certain.
    expect(kept("BGN", 2)).toBe(1_000);
  });
});
