import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Written into the program where it is a single executable, which has no package around it. */
declare const HOLDFAST_VERSION: string | undefined;

/** From the nearest package.json above: the program may be one file, or many in folders. */
export function version(): string {
  if (typeof HOLDFAST_VERSION === "string") return HOLDFAST_VERSION;
  let folder = __dirname;
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  const text = readFileSync(join(folder, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
