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

/** The signal and the time that each call may be given, and what else is known where it is given. */
export function checkOptions(options: unknown, more: readonly string[] = []): void {
  checkKnown(options, ["withinMs", "signal", ...more]);
  const { withinMs, signal } = options as { withinMs?: unknown; signal?: Partial<AbortSignal> | null };
  checkMs("withinMs", withinMs);
  if (signal !== undefined && typeof signal?.throwIfAborted !== "function")
    throw refusedOption("signal has to be an AbortSignal");
}

/** A misspelt option would be none. */
export function checkKnown(options: unknown, known: readonly string[]): void {
  if (typeof options !== "object" || options === null) throw refusedOption("options have to be an object");
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) throw refusedOption(`"${unknown}" is no option: there are ${known.join(", ")}`);
}

export function checkMs(name: string, ms: unknown): void {
  // Compared with what is none, no time would ever be over.
  if (ms !== undefined && (typeof ms !== "number" || !(ms > 0)))
    throw refusedOption(`${name} has to be a number of milliseconds`);
}

export function refusedOption(message: string): HoldfastUsageError {
  return new HoldfastUsageError("invalid_option", message);
}
