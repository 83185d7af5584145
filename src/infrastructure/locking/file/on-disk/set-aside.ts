import { constants, copyFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { nonce } from "../../nonce";
import { appendAudit } from "./audit-file";

/**
 * Keeps a copy for people, leaves a line beside the locks, and says so. The file itself stays in its place, for the caller
 * to write over: it was never missing, so nobody can have slipped in between.
 */
export function setAside(path: string): void {
  const kept = `${path}.${nonce(8)}.damaged`;
  copyFileSync(path, kept, constants.COPYFILE_EXCL);
  const by = { host: hostname(), pid: process.pid };
  appendAudit(dirname(path), { at: new Date().toISOString(), action: "set_aside", file: path, kept, by });
  process.emitWarning(
    `${path} was nothing but zeros, as a power failure leaves files; it was kept as ${kept} and written anew`,
    "HoldfastWarning",
  );
}
