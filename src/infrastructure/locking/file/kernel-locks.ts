import { createRequire } from "node:module";

/** What is used of `fs-native-extensions`, which brings no types. A lock belongs to the open file, not to the process. */
export interface KernelLocks {
  /** False when another open file has it. Throws where the filesystem or platform has no such locks. */
  tryLock(fd: number, options?: { readonly shared?: boolean }): boolean;
  /** Ends the lock for every process that inherited the descriptor. */
  unlock(fd: number): void;
}

/** Loads the native part on first use, so that whoever never locks a file needs no binary for this platform. */
export function loadKernelLocks(): KernelLocks {
  const require = createRequire(__filename);
  const native = require("fs-native-extensions") as {
    tryLock(fd: number, options: { readonly shared?: boolean }): boolean;
    unlock(fd: number): void;
  };
  return {
    tryLock: (fd, options = {}) => native.tryLock(fd, options),
    unlock: (fd) => native.unlock(fd),
  };
}
