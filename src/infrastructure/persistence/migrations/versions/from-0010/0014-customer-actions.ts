import type { Migration } from "../../migration";

/** Where a customer has to act before the money is reserved, and where they come back to. Payments that there are have neither. */
export const customerActions: Migration = {
  version: 14,
  name: "customer actions",
  statements: (engine) => {
    const text = engine === "sqlite" ? "text" : 'text COLLATE "C"';
    return [
      `ALTER TABLE payments ADD COLUMN return_url ${text}`,
      `ALTER TABLE payments ADD COLUMN action_url ${text}`,
    ];
  },
};
