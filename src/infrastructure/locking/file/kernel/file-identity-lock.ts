import { closeSync, openSync } from "node:fs";
import { LockTimeoutError } from "../../../../application/ports/lock-errors";
import { loadKernelLocks, type KernelLocks } from "./kernel-locks";

/** One byte that nobody writes, far from those that SQLite locks in its own files (just above 1 GiB). */
const LOCKED_BYTE = 2 ** 48;

const ONE_AT_A_TIME = "the rule that one process at a time opens this data";
const END_THE_OTHER =
  "another process has this very file open under another name (a rename, a mount); end that process first";

/**
 * One process at a time has this file, whatever it is called: by rename, by another mount of it, in another container.
 * Beside the lock on the directory, which has words for who has it. Taken before SQLite opens the file and released after
 * it has closed it: closing any descriptor of a file ends all of SQLite's own locks on it in this process.
 */
export class FileIdentityLock {
  private constructor(private readonly fd: number) {}

  /** The file exists. Null where the filesystem or the platform has no such locks. Throws `LockTimeoutError`. */
  static acquire(path: string, locks: KernelLocks = loadKernelLocks()): FileIdentityLock | null {
    const fd = openSync(path, "r+");
    const isTaken = tryLock(locks, fd);
    if (isTaken === true) return new FileIdentityLock(fd);
    closeSync(fd);
    if (isTaken === null) return null;
    throw new LockTimeoutError(path, 0, { timeout: 0, source: ONE_AT_A_TIME }, undefined, END_THE_OTHER);
  }

  release(): void {
    closeSync(this.fd);
  }
}

function tryLock(locks: KernelLocks, fd: number): boolean | null {
  try {
    return locks.tryLock(fd, { offset: LOCKED_BYTE, length: 1 });
  } catch {
    return null;
  }
}
