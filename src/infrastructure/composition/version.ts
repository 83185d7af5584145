import { readFileSync } from "node:fs";
import { join } from "node:path";

/** From package.json, three folders up from here in the source and in what is built from it. */
export function version(): string {
  const text = readFileSync(join(__dirname, "..", "..", "..", "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
