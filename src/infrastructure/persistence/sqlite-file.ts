import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Makes the file and its folder if they are missing. What is there already keeps its mode. */
export function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  // SQLite would let everybody read it. The `-wal` and `-shm` that it makes get the mode of the file.
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
}
