import { createRequire } from "node:module";

/** What is used of `fs-native-extensions`, which brings no types. A lock belongs to the open file, not to the process. */
export interface KernelLocks {
  /**
   * The whole file, or some bytes of it. False when another open file has them. Throws where the filesystem or platform
   * has no such locks.
   */
  tryLock(fd: number, options?: KernelLockOptions): boolean;
  /** Ends the lock for every process that inherited the descriptor. */
  unlock(fd: number): void;
}

export interface KernelLockOptions {
  readonly shared?: boolean;
  readonly offset?: number;
  /** 0: to the end of the file, wherever that will be. */
  readonly length?: number;
}

/** Loads the native part on first use, so that whoever never locks a file needs no binary for this platform. */
export function loadKernelLocks(): KernelLocks {
  const require = createRequire(__filename);
  const native = require("fs-native-extensions") as {
    tryLock(fd: number, offset: number, length: number, options: { readonly shared?: boolean }): boolean;
    unlock(fd: number): void;
  };
  return {
    tryLock: (fd, { offset = 0, length = 0, ...options } = {}) => native.tryLock(fd, offset, length, options),
    unlock: (fd) => native.unlock(fd),
  };
}
