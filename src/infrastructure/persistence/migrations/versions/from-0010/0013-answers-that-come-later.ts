import type { Migration } from "../../migration";

/** What the gateway has taken and not decided, and what waits for the customer, is open: nothing else may begin beside it. */
export const answersThatComeLater: Migration = {
  version: 13,
  name: "answers that come later",
  statements: (engine) => [
    `ALTER TABLE operations ADD COLUMN decides_by ${engine === "sqlite" ? "integer" : "bigint"}`,
    `DROP INDEX one_open_operation`,
    `CREATE UNIQUE INDEX one_open_operation ON operations (payment_id)
      WHERE status IN ('started', 'unknown', 'pending', 'requires_action', 'needs_review')`,
  ],
};
