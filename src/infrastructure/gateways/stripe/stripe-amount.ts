import { currencyExponent, parseCurrency, type Currency, type Money } from "../../../domain/money";

/** From Stripe's list of currencies. UGX and ISK have no minor unit any more and still count in hundredths there. */
const WITHOUT_DECIMALS = new Set("BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" "));
const WITH_THREE_DECIMALS = new Set("BHD JOD KWD OMR TND".split(" "));

/**
 * Stripe's minor unit is not everywhere the platform's: 100 HUF are `100` here and `10000` there. Null where the
 * amount cannot be said in Stripe's unit without rounding, which would be another amount.
 */
export function toStripeAmount({ amount, currency }: Money): number | null {
  const shift = stripeExponent(currency) - currencyExponent(currency);
  if (shift >= 0) return Number(amount * 10n ** BigInt(shift));
  const divisor = 10n ** BigInt(-shift);
  return amount % divisor === 0n ? Number(amount / divisor) : null;
}

/** The other way, for what Stripe names. */
export function fromStripeAmount(amount: number, currencyCode: string): Money | null {
  if (!Number.isSafeInteger(amount) || amount < 0) return null;
  const currency = parseCurrency(currencyCode);
  const shift = stripeExponent(currency) - currencyExponent(currency);
  if (shift <= 0) return { amount: BigInt(amount) * 10n ** BigInt(-shift), currency };
  const divisor = 10n ** BigInt(shift);
  return BigInt(amount) % divisor === 0n ? { amount: BigInt(amount) / divisor, currency } : null;
}

function stripeExponent(currency: Currency): number {
  if (WITHOUT_DECIMALS.has(currency)) return 0;
  return WITH_THREE_DECIMALS.has(currency) ? 3 : 2;
}
