import { formatMoney, type Currency, type Money } from "../../../domain/money";
import { RequestError } from "../../http/problems/request-error";

/** `12.50 EUR`: a part of an amount, or a total of it, in its currency. */
export function inCurrency(amount: bigint, money: Money): string {
  return formatMoney({ ...money, amount });
}

/** As a person writes it into a field beside the currency: `12.50`. */
export function plainAmount(amount: bigint, money: Money): string {
  return money.exponent === null
    ? String(amount)
    : formatMoney({ ...money, amount })
        .split(" ", 1)
        .join("");
}

/** `12.5`, `12,50` and `12.50` are the same. A digit too many is refused, as nobody knows what was meant, and so is nothing. */
export function minorUnits(
  text: string,
  { currency, exponent }: Pick<Money, "currency" | "exponent">,
): bigint {
  const [, whole, fraction = ""] = /^\s*(\d{1,12})(?:[.,](\d{1,4}))?\s*$/.exec(text) ?? [];
  const digits = exponent ?? 0;
  if (whole === undefined || fraction.length > digits)
    throw new RequestError("invalid_request", `An amount ${wayOfWriting(currency, exponent)}`);
  const amount = BigInt(whole + fraction.padEnd(digits, "0"));
  if (amount > 0n) return amount;
  throw new RequestError("invalid_request", `Nothing is no amount: one ${wayOfWriting(currency, exponent)}`);
}

/** As a form of ours carries it, and not otherwise: what was confirmed is what is sent, digit by digit. */
export function confirmedAmount(text: string, money: Money): bigint {
  const amount = minorUnits(text, money);
  if (plainAmount(amount, money) === text) return amount;
  const how = wayOfWriting(money.currency, money.exponent);
  throw new RequestError("invalid_request", `A confirmed amount ${how} It has all of its digits.`);
}

function wayOfWriting(currency: Currency, exponent: number | null): string {
  if (exponent === null) return `of ${currency} is written in minor units, as in 1250.`;
  if (exponent === 0) return `in ${currency} is written as in 1250, without a point.`;
  const most = exponent === 1 ? "1 digit" : `${exponent} digits`;
  return `in ${currency} is written as in 12.${"5".padEnd(exponent, "0")}, with ${most} at most behind the point.`;
}
