import { InvalidValueError } from "./payment-errors";

declare const brand: unique symbol;
/** An ISO 4217 code in upper case that the platform knows. */
export type Currency = string & { readonly [brand]: "Currency" };

/** An amount in the currency's minor unit (cents, yen, fils). Never a float, never a mix of currencies. */
export interface Money {
  readonly amount: bigint;
  readonly currency: Currency;
}

/** Above every real payment, below 2^53, so that JSON's numbers carry it exactly. */
export const MAX_AMOUNT = 999_999_999_999n;

const known = new Set(Intl.supportedValuesOf("currency"));

export function parseCurrency(text: string): Currency {
  const code = text.toUpperCase();
  if (!known.has(code)) throw new InvalidValueError("invalid_currency", "not a currency code of ISO 4217");
  return code as Currency;
}

/** How many digits the minor unit takes: 2 for EUR, 0 for JPY, 3 for KWD. From the platform's data. */
export function currencyExponent(currency: Currency): number {
  const { maximumFractionDigits } = new Intl.NumberFormat("en", {
    style: "currency",
    currency,
  }).resolvedOptions();
  return maximumFractionDigits ?? 2;
}

export function money(amount: bigint, currency: Currency): Money {
  if (amount < 1n || amount > MAX_AMOUNT) {
    throw new InvalidValueError("invalid_amount", `an amount is 1 to ${MAX_AMOUNT} minor units`);
  }
  return { amount, currency };
}

/** `12.50 EUR`, exact. */
export function formatMoney({ amount, currency }: Money): string {
  const digits = currencyExponent(currency);
  if (digits === 0) return `${amount} ${currency}`;
  const text = amount.toString().padStart(digits + 1, "0");
  return `${text.slice(0, -digits)}.${text.slice(-digits)} ${currency}`;
}
