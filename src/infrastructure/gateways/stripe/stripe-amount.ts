import {
  currencyExponent,
  isUnitCertain,
  MAX_AMOUNT,
  type Currency,
  type Money,
} from "../../../domain/money";

// Stripe's own units, from its list of currencies.
const WITHOUT_DECIMALS = new Set("BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" "));
const WITH_THREE_DECIMALS = new Set("BHD JOD KWD OMR TND".split(" "));
/** Without a minor unit for years, and still counted in hundredths there: 5 ISK are 500. */
const HUNDREDTHS_OF_WHOLE_UNITS = new Set("ISK UGX".split(" "));
/** The card networks want the last of three decimals to be 0, and Stripe refuses what has another. */
const LAST_OF_THREE_DECIMALS = 10;

/** Why an amount cannot be said to Stripe. */
export type Unsaid =
  /** Only by rounding, and that would be another amount. */
  | "amount_not_representable"
  /** Stripe does not say in which unit it counts this currency. */
  | "currency_not_supported"
  /** How the payment counts was not kept, or ISO 4217 has changed it since: see `isUnitCertain`. */
  | "currency_unit_unknown";

/** 5 ISK are `5` here and `500` there, 5.00 MGA are `500` here and `5` there. The amount in Stripe's unit, or why not. */
export function toStripeAmount(money: Money): number | Unsaid {
  const { amount, currency, exponent } = money;
  if (exponent === null || !isUnitCertain(money)) return "currency_unit_unknown";
  const theirs = stripeExponent(currency, exponent);
  if (theirs === null) return "currency_not_supported";
  const shift = theirs - exponent;
  const divisor = 10n ** BigInt(Math.max(-shift, 0));
  if (amount % divisor !== 0n) return "amount_not_representable";
  const said = Number((amount * 10n ** BigInt(Math.max(shift, 0))) / divisor);
  return isSayable(said, currency) ? said : "amount_not_representable";
}

/** The other way, for what Stripe names, in the unit of today's ISO 4217. */
export function fromStripeAmount(said: number, currencyCode: string): Money | Unsaid {
  const currency = currencyCode.toUpperCase() as Currency;
  const exponent = currencyExponent(currency);
  const theirs = exponent === null ? null : stripeExponent(currency, exponent);
  if (exponent === null || theirs === null) return "currency_not_supported";
  if (!isSayable(said, currency)) return "amount_not_representable";
  const shift = theirs - exponent;
  const divisor = 10n ** BigInt(Math.max(shift, 0));
  if (BigInt(said) % divisor !== 0n) return "amount_not_representable";
  const amount = (BigInt(said) * 10n ** BigInt(Math.max(-shift, 0))) / divisor;
  return amount < 1n || amount > MAX_AMOUNT ? "amount_not_representable" : { amount, currency, exponent };
}

function isSayable(said: number, currency: Currency): boolean {
  const step = WITH_THREE_DECIMALS.has(currency) ? LAST_OF_THREE_DECIMALS : 1;
  return Number.isSafeInteger(said) && said >= 0 && said % step === 0;
}

/** Two decimals where Stripe notes nothing else; null where that would be a guess, because ISO 4217 has not two either. */
function stripeExponent(currency: Currency, exponent: number): number | null {
  if (WITHOUT_DECIMALS.has(currency)) return 0;
  if (WITH_THREE_DECIMALS.has(currency)) return 3;
  return exponent === 2 || HUNDREDTHS_OF_WHOLE_UNITS.has(currency) ? 2 : null;
}
