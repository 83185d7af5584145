import type { Migration } from "../../migration";

/** An authorization that was never sent ends with its time, too. */
export const unsentAuthorizationsLapse: Migration = {
  version: 5,
  name: "authorizations that were never sent lapse",
  statements: () => [
    `DROP INDEX payments_lapsing`,
    `CREATE INDEX payments_lapsing ON payments (expires_at, id) WHERE status IN ('authorized', 'authorizing')`,
  ],
};
