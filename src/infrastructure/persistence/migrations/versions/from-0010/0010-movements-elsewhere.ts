import type { Migration } from "../../migration";

/**
 * What others do at the gateway stands beside our own operations. The index is the guard against counting one movement
 * twice, should two instances hear of it at once. Everything that was written before is our own, and no dispute was known.
 */
export const movementsElsewhere: Migration = {
  version: 10,
  name: "movements made elsewhere, and disputes",
  statements: (engine) => {
    const text = engine === "sqlite" ? "text" : 'text COLLATE "C"';
    return [
      `ALTER TABLE operations ADD COLUMN origin ${text} NOT NULL DEFAULT 'holdfast'`,
      `ALTER TABLE payments ADD COLUMN disputes ${text} NOT NULL DEFAULT '[]'`,
      `CREATE UNIQUE INDEX one_operation_per_movement_elsewhere ON operations (payment_id, kind, gateway_reference)
        WHERE origin = 'gateway'`,
    ];
  },
};
