import { HoldfastUsageError } from "./client-errors";

/** What a caller without types, or with the wrong ones, gives is looked at before a key is stored or anything is sent. */
export function checkedMembers(given: unknown, at: string, known: readonly string[]): void {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new HoldfastUsageError("invalid_body", `${at} has to be an object`);
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  // Dropped, a misspelt amount would be all of it.
  if (unknown !== undefined)
    throw new HoldfastUsageError(
      "invalid_body",
      `${at} has "${unknown}", which is none of ${known.join(", ")}`,
    );
}
