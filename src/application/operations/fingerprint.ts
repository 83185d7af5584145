import { createHash } from "node:crypto";
import type { PaymentLabels } from "../../domain/labels";

/**
 * What a request asked for, so that its idempotency key cannot be used for something else. The parts are encoded as
 * JSON: no two different lists of parts give the same text.
 */
export function fingerprint(parts: readonly (string | bigint | null)[]): string {
  const text = JSON.stringify(parts.map((part) => (typeof part === "bigint" ? part.toString() : part)));
  return createHash("sha256").update(text).digest("hex");
}

/** The parts that a payment's labels are. */
export function labelParts({ reference, metadata }: PaymentLabels): readonly (string | null)[] {
  return [reference, sortedEntries(metadata)];
}

/** The same text for the same entries, in whatever order they were written. */
function sortedEntries(entries: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
}
