/** `holdfast/locks`: the lock toolkit without the payments. */
export type { LockHold, LockHolder, LockOptions, LockProvider } from "./application/ports/lock-provider";
export type { HandoffLock } from "./application/ports/handoff-lock";
export type { LockEvent, LockEventType, LockObserver } from "./application/ports/lock-observer";
export {
  builtInLockTimeouts,
  type LockScope,
  type LockTimeout,
  type LockTimeoutPolicy,
  type ResolvedLockTimeout,
} from "./application/ports/lock-timeout";
export {
  LockCancelledError,
  LockContentionError,
  LockError,
  LockLostError,
  LockReentrancyError,
  LockTimeoutError,
  LockUnavailableError,
  type EndedWait,
  type LockErrorCode,
} from "./application/ports/lock-errors";
export { detached } from "./infrastructure/locking/reentrancy";
export { withLocks } from "./application/with-locks";

export { FileLockProvider } from "./infrastructure/locking/file/file-lock-provider";
export type { FileLockOptions } from "./infrastructure/locking/file/file-lock-backend";
export type { FileLockMode } from "./infrastructure/locking/file/lock-directory";
export { InMemoryLockProvider } from "./infrastructure/locking/in-memory-lock-provider";
export {
  GcsLeaseLockProvider,
  type GcsLeaseLockProviderOptions,
} from "./infrastructure/locking/lease/gcs-lease-lock-provider";
export {
  LeaseLockProvider,
  type LeaseLockProviderOptions,
} from "./infrastructure/locking/lease/lease-lock-provider";
export { PostgresLeaseRecordStore } from "./infrastructure/locking/lease/postgres-lease-record-store";
export {
  RedisLeaseLockProvider,
  type RedisLeaseLockProviderOptions,
} from "./infrastructure/locking/lease/redis-lease-lock-provider";
export { PostgresLockProvider } from "./infrastructure/locking/postgres/postgres-lock-provider";
export { NoOpLockProvider } from "./infrastructure/locking/no-op-lock-provider";

/** For adapters of your own: implement `LockBackend`, and `LinedLockProvider` does the rest. */
export type {
  Attempt,
  AttemptRequest,
  LockBackend,
  Tenure,
  TenureHappening,
} from "./infrastructure/locking/lock-backend";
export { LinedLockProvider } from "./infrastructure/locking/lined-lock-provider";
export type { LockProviderSettings } from "./infrastructure/locking/lock-settings";
export { systemLockClock, type LockClock } from "./infrastructure/locking/lock-clock";

/** For record stores of your own: implement `LeaseRecordStore`, and `LeaseLockProvider` does the rest. */
export {
  PermanentLeaseStoreError,
  recordVersion,
  TransientLeaseStoreError,
  type ClaimedLease,
  type LeaseRecordStore,
  type ReadLeaseRecord,
  type RecordVersion,
} from "./infrastructure/locking/lease/lease-record-store";
export {
  parseLeaseRecord,
  serializeLeaseRecord,
  UnreadableLeaseRecordError,
  type ForeignLeaseRecord,
  type LeaseRecord,
  type StoredLeaseRecord,
} from "./infrastructure/locking/lease/lease-record";

/** Default observers, and how to have several. */
export { lockLog, type LockLogger } from "./infrastructure/telemetry/lock-log";
export { lockMetrics } from "./infrastructure/telemetry/lock-metrics";
export { lockObservers } from "./infrastructure/telemetry/lock-observers";
