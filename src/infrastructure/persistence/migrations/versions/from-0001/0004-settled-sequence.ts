import type { Migration } from "../../migration";

/**
 * What ended before what must not depend on whose clock was right. Of what ended before this was kept, the times are all
 * there is; a payment has at least as many events as it has ends, so what ends next comes after these.
 */
export const settledSequenceKept: Migration = {
  version: 4,
  name: "the order in which operations ended",
  statements: (engine) => [
    `ALTER TABLE operations ADD COLUMN settled_sequence ${engine === "sqlite" ? "integer" : "bigint"}`,
    `UPDATE operations SET settled_sequence = (
      SELECT count(*) FROM operations AS earlier
      WHERE earlier.payment_id = operations.payment_id AND earlier.settled_at IS NOT NULL
        AND (earlier.settled_at, earlier.position) <= (operations.settled_at, operations.position)
    ) WHERE settled_at IS NOT NULL`,
  ],
};
