import type { Migration } from "../../migration";

/** Payments that there are were authorized in the common account: what is null stays there. */
export const accountsOfMerchants: Migration = {
  version: 12,
  name: "accounts of merchants",
  statements: (engine) => {
    const text = engine === "sqlite" ? "text" : 'text COLLATE "C"';
    const [integer, options] = engine === "sqlite" ? ["integer", " STRICT"] : ["bigint", ""];
    return [
      `ALTER TABLE payments ADD COLUMN gateway_account ${text}`,
      `CREATE TABLE merchant_accounts (
        merchant_id ${text} NOT NULL PRIMARY KEY,
        account ${text} NOT NULL,
        set_at ${integer} NOT NULL
      )${options}`,
    ];
  },
};
