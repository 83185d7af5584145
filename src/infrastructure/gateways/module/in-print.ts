import type { GatewayOptions } from "./own-gateway";

const LONGEST = 500;
/** Shorter ones are words that may stand anywhere, and no secrets. */
const SHORTEST_SECRET = 6;

/**
 * What a module has said, fit to be stored and shown: one line of bounded length, without the values of its options, of
 * which nobody here knows which are secret.
 */
export function inPrint(said: unknown, options: GatewayOptions): string {
  return oneLine(withoutValues(textOf(said), options));
}

export function withoutValues(text: string, options: GatewayOptions): string {
  let shown = text;
  for (const value of Object.values(options))
    if (value !== undefined && value.length >= SHORTEST_SECRET) shown = shown.replaceAll(value, "***");
  return shown;
}

/** Neither a control character, which a database may refuse, nor half of a character. */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}]+/gu, " ")
    .slice(0, LONGEST)
    .replace(/\p{Cs}$/u, "");
}

function textOf(said: unknown): string {
  if (typeof said === "string") return said;
  try {
    return said instanceof Error ? `${said.name}: ${said.message}` : String(said);
  } catch {
    return "something that has no text";
  }
}
