/** The service behind a setting cannot be used. Its own words say why. */
export function unusable(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw Object.assign(new Error(reason, { cause: error }), { code: "service_unavailable" });
}
