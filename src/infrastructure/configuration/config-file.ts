import { readFileSync } from "node:fs";
import { parse } from "smol-toml";

/** The file's content as it is written; what the keys mean is decided by the settings. */
export interface ConfigFile {
  /** As messages name it. */
  readonly path: string;
  readonly content: Readonly<Record<string, unknown>>;
}

export const DEFAULT_CONFIG_FILE = "holdfast.toml";

/** A file that was named has to be there; the default one need not. Throws an `Error` in words. */
export function readConfigFile(path: string, named: boolean): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (!named && (error as NodeJS.ErrnoException).code === "ENOENT") return { path, content: {} };
    throw new Error(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`, {
      cause: error,
    });
  }
  try {
    return { path, content: parse(text) };
  } catch (error) {
    const [first = "it is not TOML"] = String((error as Error).message).split("\n");
    throw new Error(`${path} is not valid TOML: ${first}`, { cause: error });
  }
}
