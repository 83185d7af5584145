import type { Migration } from "../../migration";

/** A refund that failed after it had succeeded counted until this was known: earlier answers are repeated as they were. */
export const correctedSequenceKept: Migration = {
  version: 7,
  name: "successes that the gateway took back",
  statements: (engine) => [
    `ALTER TABLE operations ADD COLUMN corrected_sequence ${engine === "sqlite" ? "integer" : "bigint"}`,
  ],
};
