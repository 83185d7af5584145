import type { Migration } from "../../migration";
import { exponentOfIso4217 } from "./iso-4217-before-exponents";

/**
 * What one unit of an amount is must not depend on who reads it. Amounts from before are taken as ISO 4217 counts; a
 * currency that it did not list any more stays without, because how its amounts were meant was written down nowhere.
 */
export const currencyExponentKept: Migration = {
  version: 3,
  name: "the exponent of each payment's currency",
  statements: (engine) => [
    `ALTER TABLE payments ADD COLUMN currency_exponent ${engine === "sqlite" ? "integer" : "bigint"}`,
    ...exponentOfIso4217.map(
      ([exponent, codes]) =>
        `UPDATE payments SET currency_exponent = ${exponent} WHERE currency IN (${codes.map((code) => `'${code}'`).join(", ")})`,
    ),
  ],
};
