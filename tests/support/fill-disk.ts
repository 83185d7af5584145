import { closeSync, openSync, writeSync } from "node:fs";

/** Takes the room that is left where this file is, down to the last byte. For a small disk of a test's own only. */
export function fillDisk(path: string): void {
  const file = openSync(path, "a");
  try {
    for (const chunk of [65_536, 4_096, 1])
      for (;;) {
        try {
          if (writeSync(file, Buffer.alloc(chunk)) < chunk) break;
        } catch {
          break;
        }
      }
  } finally {
    closeSync(file);
  }
}
