/** A JSON array of rows, for `json_populate_recordset`. */
export function toJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : typeof value === "string" ? storable(value) : value,
  );
}

/** PostgreSQL's text has no NUL and no half of a surrogate pair; a gateway's words might. */
export function storable(text: string): string {
  return Buffer.from(text).toString().replaceAll("\0", "\ufffd");
}
