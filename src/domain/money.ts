import { minorUnitDigits } from "./currencies";
import { InvalidValueError } from "./payment/errors";

declare const brand: unique symbol;
/** An ISO 4217 code in upper case. One that comes from a store may have been withdrawn since it was written. */
export type Currency = string & { readonly [brand]: "Currency" };

/** An amount in the currency's minor unit (cents, yen, fils). Never a float, never a mix of currencies. */
export interface Money {
  readonly amount: bigint;
  readonly currency: Currency;
  /**
   * How many digits of the amount stand behind the decimal point: kept with the amount, so that a later edition of
   * ISO 4217 does not change what it is worth. Null if that was not known when it was written down.
   */
  readonly exponent: number | null;
}

/** Above every real payment, below 2^53, so that JSON's numbers carry it exactly. */
export const MAX_AMOUNT = 999_999_999_999n;

/** A currency that new amounts may be in. */
export function parseCurrency(text: string): Currency {
  const code = text.toUpperCase();
  if (!minorUnitDigits.has(code)) {
    throw new InvalidValueError("invalid_currency", "not a currency of ISO 4217 with a minor unit");
  }
  return code as Currency;
}

/** How many digits the minor unit takes: 2 for EUR, 0 for JPY, 3 for KWD. Null for what ISO 4217 does not list now. */
export function currencyExponent(currency: Currency): number | null {
  return minorUnitDigits.get(currency) ?? null;
}

export function money(amount: bigint, currency: Currency): Money {
  if (amount < 1n || amount > MAX_AMOUNT) {
    throw new InvalidValueError("invalid_amount", `an amount is 1 to ${MAX_AMOUNT} minor units`);
  }
  return { amount, currency, exponent: currencyExponent(currency) };
}

/**
 * Whether it is certain what one unit of the amount is: its exponent was kept, and the currency has not been given
 * another one since. A currency that was only withdrawn keeps its meaning.
 */
export function isUnitCertain({ currency, exponent }: Money): boolean {
  return exponent !== null && exponent === (currencyExponent(currency) ?? exponent);
}

/** `12.50 EUR`, exact; `1250 minor units of XYZ` where nobody knows how many digits are behind the point. */
export function formatMoney({ amount, currency, exponent }: Money): string {
  if (exponent === null) return `${amount} minor units of ${currency}`;
  if (exponent === 0) return `${amount} ${currency}`;
  const text = amount.toString().padStart(exponent + 1, "0");
  return `${text.slice(0, -exponent)}.${text.slice(-exponent)} ${currency}`;
}
