import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { StoreUnavailableError } from "../../../application/ports/payment-repository";

/** Makes the file and its folder if they are missing. What is there already keeps its mode, and has to be writable. */
export function makeWritableFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  // SQLite would let everybody read it. The `-wal` and `-shm` that it makes get the mode of the file.
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
  const file = realpathSync(path);
  for (const needed of [dirname(file), file, `${file}-wal`, `${file}-shm`]) assertWritable(needed, path);
  assertOneFile(file, path);
}

/**
 * SQLite keeps its log under the name by which it was opened. Under another name of the same file that log is not found:
 * after a crash what was acknowledged is missing, and two processes that write at once destroy the file.
 */
function assertOneFile(file: string, path: string): void {
  const found = statSync(file);
  if (!found.isFile()) {
    throw new StoreUnavailableError(
      `${path} cannot keep payments: it is not a file. Name one with --store sqlite:<file>`,
    );
  }
  const { nlink } = found;
  if (nlink <= 1) return;
  throw new StoreUnavailableError(
    `${path} cannot keep payments: the file has ${nlink} names (hard links), and SQLite would keep a log of its own ` +
      `beside each. Find them with find -samefile ${file}, and remove all but one; use a copy where you meant one`,
  );
}

/**
 * SQLite opens a file that may only be read without a word, and even begins to write: the first payment would be the one
 * to find out. Asked before SQLite is, which would leave its own files behind, as unwritable as this one.
 */
function assertWritable(needed: string, path: string): void {
  try {
    accessSync(needed, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return;
    throw new StoreUnavailableError(
      `${path} cannot keep payments: ${needed} may not be written (${code}). Make it writable for the user that runs ` +
        "this, or choose another place with --store sqlite:<file>",
      { cause: error },
    );
  }
}
