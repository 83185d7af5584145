import { HoldfastUsageError } from "./client-errors";

/** Two movements that share a name by mistake would be one: the second would be answered with the first. */
export function checkName(name: unknown): void {
  if (typeof name !== "string" || name.trim() === "")
    throw new HoldfastUsageError("invalid_name", "the name has to be a text that says what is to happen");
}

/** What a caller without types, or with the wrong ones, gives is looked at before a key is stored or anything is sent. */
export function checkMovement(given: unknown, at: string): asserts given is object {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new HoldfastUsageError("invalid_body", `${at} has to be an object`);
  if (!("amount" in given)) return;
  // No amount means all of it, which is not what somebody means who gives one.
  const text = JSON.stringify(given) as string | undefined;
  const written: unknown = text === undefined ? null : JSON.parse(text);
  if (typeof written !== "object" || written === null || !("amount" in written))
    throw new HoldfastUsageError(
      "invalid_body",
      `${at} has an amount that would not be sent (${typeof given.amount}): leave it out for all of it`,
    );
}

export function checkMembers(given: unknown, at: string, known: readonly string[]): void {
  checkMovement(given, at);
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  // Dropped, a misspelt amount would be all of it.
  if (unknown !== undefined)
    throw new HoldfastUsageError(
      "invalid_body",
      `${at} has "${unknown}", which is none of ${known.join(", ")}`,
    );
}
