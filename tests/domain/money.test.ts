import fc from "fast-check";
import { currencyExponent, formatMoney, MAX_AMOUNT, money, parseCurrency } from "../../src/domain/money";
import { InvalidValueError } from "../../src/domain/payment-errors";

describe("money", () => {
  it("is written with as many digits as its currency has", () => {
    const written = (amount: bigint, currency: string) => formatMoney(money(amount, parseCurrency(currency)));
    expect(written(1250n, "EUR")).toBe("12.50 EUR");
    expect(written(5n, "EUR")).toBe("0.05 EUR");
    expect(written(1250n, "JPY")).toBe("1250 JPY");
    expect(written(1n, "KWD")).toBe("0.001 KWD");
    expect(written(MAX_AMOUNT, "USD")).toBe("9999999999.99 USD");
  });

  it("loses nothing between minor units and what is written, in any currency", () => {
    const currencies = Intl.supportedValuesOf("currency").map(parseCurrency);
    fc.assert(
      fc.property(fc.bigInt(1n, MAX_AMOUNT), fc.constantFrom(...currencies), (amount, currency) => {
        const [number = "", code] = formatMoney({ amount, currency }).split(" ");
        expect(code).toBe(currency);
        expect(BigInt(number.replace(".", ""))).toBe(amount);
        expect(number.split(".")[1]?.length ?? 0).toBe(currencyExponent(currency));
      }),
    );
  });

  it.each([0n, -1n, MAX_AMOUNT + 1n, 2n ** 63n])("is never %p", (amount) => {
    expect(() => money(amount, parseCurrency("EUR"))).toThrow(InvalidValueError);
  });

  it("fits into a number of JSON, exactly", () => {
    expect(BigInt(Number(MAX_AMOUNT))).toBe(MAX_AMOUNT);
    expect(Number.isSafeInteger(Number(MAX_AMOUNT))).toBe(true);
  });

  it("takes a currency in either case and keeps it in upper case", () => {
    expect(parseCurrency("eur")).toBe("EUR");
    expect(parseCurrency("Usd")).toBe("USD");
  });

  it.each(["", "E", "EURO", "XX", "€", "EU R", "QQQ", "eur\n", "ﬁx"])(
    "does not take %j for a currency",
    (text) => {
      expect(() => parseCurrency(text)).toThrow(expect.objectContaining({ code: "invalid_currency" }));
    },
  );
});
