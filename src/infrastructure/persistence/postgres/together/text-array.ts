import { storable } from "../postgres-json";

/** An array of texts as PostgreSQL reads it. */
export function textArray(texts: readonly (string | null)[]): string {
  const items = texts.map((text) =>
    text === null ? "NULL" : `"${storable(text).replaceAll(/["\\]/g, String.raw`\$&`)}"`,
  );
  return `{${items.join(",")}}`;
}
