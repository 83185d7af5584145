import type { Migration } from "../../migration";

/** An authorization that was imported twice would be captured twice. The merchant does not matter: the money is one. */
export const onePaymentPerAuthorization: Migration = {
  version: 2,
  name: "one payment per authorization",
  statements: () => [
    `CREATE UNIQUE INDEX one_payment_per_authorization ON payments (authorization_reference)
      WHERE authorization_reference IS NOT NULL`,
  ],
};
