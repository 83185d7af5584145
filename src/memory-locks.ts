/** `holdfast/memory-locks`: the locks of one process, for programs that load no more than these. */
export type { LockHold, LockHolder, LockOptions, LockProvider } from "./application/ports/lock-provider";
export {
  LockCancelledError,
  LockError,
  LockLostError,
  LockPermitsError,
  LockReentrancyError,
  LockTimeoutError,
} from "./application/ports/lock-errors";
export { MemoryLockProvider } from "./infrastructure/locking/memory/memory-lock-provider";
export { detached } from "./infrastructure/locking/hold/reentrancy";
export { withLocks } from "./application/locking/with-locks";
export { tryWithLock, tryWithLocks } from "./application/locking/try-with-lock";
export {
  acquireLock,
  acquireLocks,
  tryAcquireLock,
  tryAcquireLocks,
} from "./application/locking/acquire-lock";
