/** How JSON writes what PostgreSQL's text does not have: NUL, and half of a surrogate pair. */
const MAY_BE_UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/** A JSON array of rows, for `json_populate_recordset`, to which a column that is left out is null. */
export function toJson(rows: readonly object[]): string {
  const json = written(rows, JSON.stringify);
  return MAY_BE_UNSTORABLE.test(json) ? written(rows, (text) => JSON.stringify(storable(text))) : json;
}

/** A gateway's words might have one of them. */
export function storable(text: string): string {
  return Buffer.from(text).toString().replaceAll("\0", "\ufffd");
}

/** Columns have plain names. By hand, because a replacer is asked about each value of each row. */
function written(rows: readonly object[], asJson: (text: string) => string): string {
  return `[${rows
    .map((row) => {
      let members = "";
      for (const [name, value] of Object.entries(row) as [string, unknown][]) {
        if (value === null || value === undefined) continue;
        members += `${members === "" ? "" : ","}"${name}":${scalar(value, asJson)}`;
      }
      return `{${members}}`;
    })
    .join(",")}]`;
}

function scalar(value: unknown, asJson: (text: string) => string): string {
  switch (typeof value) {
    case "string":
      return asJson(value);
    case "bigint":
    case "number":
    case "boolean":
      return String(value);
    default:
      throw new TypeError(`a ${typeof value} is not for a column`);
  }
}
