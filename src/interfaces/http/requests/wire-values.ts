import { z } from "zod";
import { MAX_AMOUNT, parseCurrency, type Currency } from "../../../domain/money";

/** Control characters and halves of surrogate pairs do not survive every store: they are refused here, by name. */
const PRINTABLE = /^[^\p{Cc}\p{Cs}]*$/u;

export function text(maxLength: number) {
  return z.string().min(1).max(maxLength).regex(PRINTABLE, "contains characters that cannot be printed");
}

export const amountIn = z
  .int()
  .min(1)
  .max(Number(MAX_AMOUNT))
  .transform((amount) => BigInt(amount))
  .meta({
    description:
      "In the currency's ISO 4217 minor unit: 1250 is 12.50 EUR, 12.50 HUF, 1250 JPY or 1.250 KWD.",
  });

export const currencyIn = z
  .string()
  .regex(/^[A-Za-z]{3}$/, "is not three letters")
  .transform((code, context): Currency => {
    try {
      return parseCurrency(code);
    } catch {
      context.addIssue({
        code: "custom",
        message: "is not an ISO 4217 currency code with a minor unit",
        input: code,
      });
      return z.NEVER;
    }
  })
  .meta({
    description:
      "An ISO 4217 currency code (list one, 2026-09-17) with a minor unit, in upper or lower case.",
  });

export const instantIn = z.iso
  .datetime({ offset: true })
  .transform((iso) => new Date(iso))
  .meta({ description: "ISO 8601 with an offset or Z." });

export const metadata = z
  .record(text(64), z.string().max(500).regex(PRINTABLE, "contains characters that cannot be printed"))
  .refine((entries) => Object.keys(entries).length <= 50, "has more than 50 entries")
  .meta({ description: "Up to 50 entries of your own, name to text.", maxProperties: 50 });

export const idOut = z.uuid();
/** Totals may be zero. */
export const amountOut = z.int().min(0).max(Number(MAX_AMOUNT));
export const instantOut = z.iso.datetime();
