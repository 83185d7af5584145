import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { inWords, UnusableLockFileError } from "../file-lock-errors";

/**
 * Makes an absolute directory and what is missing above it, for this user alone. Not by `mkdir` with `recursive`: where
 * the kernel answers "no such directory" for a new one in an existing one (`/proc`), Node 20 asks for ever.
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      throw inWords(error, `make the directory ${path}`);
    throw new UnusableLockFileError(`cannot make the directory ${path}: there can be none in that place`);
  }
}

async function make(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (await isDirectory(path)) return;
    const parent = dirname(path);
    if (code !== "ENOENT" || parent === path || (await isDirectory(parent))) throw error;
    await make(parent);
    await make(path);
  }
}

/** Also where `mkdir` was refused: on a read-only filesystem, or because another process was faster. */
async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
