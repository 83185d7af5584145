import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { minorUnitDigits } from "../../src/domain/currencies";
import {
  currencyExponent,
  formatMoney,
  isUnitCertain,
  MAX_AMOUNT,
  money,
  parseCurrency,
  type Currency,
} from "../../src/domain/money";
import { InvalidValueError } from "../../src/domain/payment/errors";

/** List one, as its maintenance agency published it. */
const listOne = JSON.parse(readFileSync(join(__dirname, "../fixtures/iso-4217.json"), "utf8")) as {
  readonly minorUnitDigits: Readonly<Record<string, number>>;
  readonly withoutMinorUnit: readonly string[];
};

describe("money", () => {
  it("money is written with as many digits as its currency has", () => {
    const written = (amount: bigint, currency: string) => formatMoney(money(amount, parseCurrency(currency)));
    expect(written(1250n, "EUR")).toBe("12.50 EUR");
    expect(written(5n, "EUR")).toBe("0.05 EUR");
    expect(written(1250n, "JPY")).toBe("1250 JPY");
    expect(written(1n, "KWD")).toBe("0.001 KWD");
    expect(written(MAX_AMOUNT, "USD")).toBe("9999999999.99 USD");
  });

  it("money loses nothing between minor units and what is written, in any currency", () => {
    const currencies = Object.keys(listOne.minorUnitDigits).map(parseCurrency);
    fc.assert(
      fc.property(fc.bigInt(1n, MAX_AMOUNT), fc.constantFrom(...currencies), (amount, currency) => {
        const [number = "", code] = formatMoney(money(amount, currency)).split(" ");
        expect(code).toBe(currency);
        expect(BigInt(number.replace(".", ""))).toBe(amount);
        expect(number.split(".")[1]?.length ?? 0).toBe(currencyExponent(currency));
      }),
    );
  });

  it.each([0n, -1n, MAX_AMOUNT + 1n, 2n ** 63n])("money is never %p", (amount) => {
    expect(() => money(amount, parseCurrency("EUR"))).toThrow(InvalidValueError);
  });

  it("money fits into a number of JSON, exactly", () => {
    expect(BigInt(Number(MAX_AMOUNT))).toBe(MAX_AMOUNT);
    expect(Number.isSafeInteger(Number(MAX_AMOUNT))).toBe(true);
  });

  it("money takes a currency in either case and keeps it in upper case", () => {
    expect(parseCurrency("eur")).toBe("EUR");
    expect(parseCurrency("Usd")).toBe("USD");
  });

  it.each(["", "E", "EURO", "XX", "€", "EU R", "QQQ", "eur\n", "ﬁx"])(
    "money does not take %j for a currency",
    (text) => {
      expect(() => parseCurrency(text)).toThrow(expect.objectContaining({ code: "invalid_currency" }));
    },
  );
});

describe("what a minor unit is", () => {
  it("the minor unit is what list one of ISO 4217 says, for each of its currencies and for no other", () => {
    expect(Object.fromEntries(minorUnitDigits)).toEqual(listOne.minorUnitDigits);
    expect(minorUnitDigits.size).toBe(165);
  });

  it.each(["HUF", "COP", "IDR", "PKR", "LBP", "RSD"])(
    "the minor unit is a hundredth for %s, whatever the platform thinks of it",
    (code) => {
      expect(currencyExponent(parseCurrency(code))).toBe(2);
    },
  );

  it.each(listOne.withoutMinorUnit)("does not exist for %s: no amount can be in it", (code) => {
    expect(() => parseCurrency(code)).toThrow(expect.objectContaining({ code: "invalid_currency" }));
  });

  it.each(["DEM", "HRK", "BGN", "ANG", "CUC", "SLL", "ZWL", "TRL"])(
    "%s has been withdrawn, so nothing new is in it",
    (code) => {
      expect(() => parseCurrency(code)).toThrow(expect.objectContaining({ code: "invalid_currency" }));
    },
  );

  it("the minor unit is kept with each amount, and written as it was kept", () => {
    const kept = (currency: string, exponent: number | null) =>
      formatMoney({ amount: 1250n, currency: currency as Currency, exponent });
    expect(kept("HUF", 0)).toBe("1250 HUF");
    expect(kept("HUF", 2)).toBe("12.50 HUF");
    expect(kept("BGN", 2)).toBe("12.50 BGN");
    expect(kept("DEM", null)).toBe("1250 minor units of DEM");
  });

  it("the minor unit is certain if it was kept and has not been changed since, also for what was withdrawn", () => {
    const certain = (currency: string, exponent: number | null) =>
      isUnitCertain({ amount: 1n, currency: currency as Currency, exponent });
    expect(certain("HUF", 2)).toBe(true);
    expect(certain("BGN", 2)).toBe(true);
    expect(certain("HUF", 0)).toBe(false);
    expect(certain("RSD", 0)).toBe(false);
    expect(certain("DEM", null)).toBe(false);
    expect(certain("EUR", null)).toBe(false);
  });
});
