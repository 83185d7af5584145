import { closeSync, fsyncSync, writeSync } from "node:fs";
import { join } from "node:path";
import { inWords } from "../file-lock-errors";
import { openToAppend } from "./plain-file";

/** Beside the locks: one line of JSON for each lock that was broken, and each file that was set aside. */
export const AUDIT_FILE = "AUDIT";

export function appendAudit(directory: string, line: object): void {
  const path = join(directory, AUDIT_FILE);
  try {
    const fd = openToAppend(path);
    try {
      writeSync(fd, `${JSON.stringify(line)}\n`);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw inWords(error, `write to ${path}`);
  }
}
