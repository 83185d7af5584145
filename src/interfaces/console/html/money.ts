import { formatMoney, type Money } from "../../../domain/money";
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

/** `12.5`, `12,50` and `12.50` are the same; a digit too many is refused, as nobody knows what was meant. */
export function minorUnits(text: string, exponent: number | null): bigint {
  const [, whole, fraction = ""] = /^\s*(\d{1,12})(?:[.,](\d{1,4}))?\s*$/.exec(text) ?? [];
  const digits = exponent ?? 0;
  if (whole === undefined || fraction.length > digits) {
    const example = digits === 0 ? "1250" : `12.${"5".padEnd(digits, "0")}`;
    throw new RequestError(
      "invalid_request",
      `An amount is written as in ${example}, with ${digits} digits at most behind the point.`,
    );
  }
  return BigInt(whole + fraction.padEnd(digits, "0"));
}
