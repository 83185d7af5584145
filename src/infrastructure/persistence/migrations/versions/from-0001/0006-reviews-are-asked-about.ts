import type { Migration } from "../../migration";

/** Before, nobody asked the gateway about what waits for a person. Two answers that contradict each other still nobody does. */
export const reviewsAreAskedAbout: Migration = {
  version: 6,
  name: "reviews are asked about",
  statements: () => [
    `UPDATE operations SET due_at = created_at, attempts = 0
      WHERE status = 'needs_review' AND conflicted = 0 AND due_at IS NULL`,
  ],
};
