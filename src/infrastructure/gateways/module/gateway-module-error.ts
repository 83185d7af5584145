/** Says in words why a module is no gateway. The caller, which knows the setting, adds it. */
export class GatewayModuleError extends Error {
  override readonly name = "GatewayModuleError";
}

/** A value as a person would call it. */
export function kindOfValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
