/** How JSON writes what PostgreSQL's text does not have: NUL, and half of a surrogate pair. */
const MAY_BE_UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/** A JSON array of rows, for `json_populate_recordset`. */
export function toJson(rows: readonly object[]): string {
  const json = JSON.stringify(rows, (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
  return MAY_BE_UNSTORABLE.test(json) ? storableJson(rows) : json;
}

/** A gateway's words might have one of them. */
export function storable(text: string): string {
  return Buffer.from(text).toString().replaceAll("\0", "\ufffd");
}

/** The row with texts that PostgreSQL takes. */
export function storableRow<Row extends object>(row: Row): Row {
  const entries = Object.entries(row).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === "string" ? storable(value) : value,
  ]);
  return Object.fromEntries(entries) as Row;
}

function storableJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : typeof value === "string" ? storable(value) : value,
  );
}
