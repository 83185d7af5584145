/** `holdfast/locks`: the lock toolkit without the payments. */
export type {
  LockHold,
  LockHolder,
  LockOptions,
  LockProvider,
  HeldAlongside,
} from "./application/ports/lock-provider";
export type { HandoffLock } from "./application/ports/handoff-lock";
export type {
  LockEvent,
  LockEventFacts,
  LockEventType,
  LockHappening,
  LockObserver,
} from "./application/ports/lock-observer";
export type { LockQueue, LockQueues } from "./application/ports/lock-queues";
export {
  builtInLockTimeouts,
  type KnownLockScope,
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
  LockPermitsError,
  LockReentrancyError,
  LockTimeoutError,
  LockUnavailableError,
  type EndedWait,
  type LockErrorCode,
} from "./application/ports/lock-errors";
export { detached } from "./infrastructure/locking/hold/reentrancy";
export { withLocks } from "./application/locking/with-locks";
export type { LockHolds } from "./application/locking/lock-holds";
export { tryWithLock, tryWithLocks, type NotNull } from "./application/locking/try-with-lock";
export {
  acquireLock,
  acquireLocks,
  tryAcquireLock,
  tryAcquireLocks,
  type HeldLock,
  type HeldLocks,
  type Releasable,
} from "./application/locking/acquire-lock";
export { lead, type LeadershipChange, type LeadOptions } from "./infrastructure/locking/leadership/lead";
export type { Leadership } from "./infrastructure/locking/leadership/leadership";

/** The providers, all made alike: `new XLockProvider(where, options)`; what is nowhere takes its options alone. */
export type { LockProviderSettings } from "./infrastructure/locking/lock-settings";
export { MemoryLockProvider } from "./infrastructure/locking/memory/memory-lock-provider";
export { NoOpLockProvider } from "./infrastructure/locking/none/no-op-lock-provider";
export {
  FileLockProvider,
  type FileLockOptions,
  type FileLockPlace,
} from "./infrastructure/locking/file/file-lock-provider";
export type { FileLockMode } from "./infrastructure/locking/file/directory/lock-directory";
export type { FileTenure, HeldFile } from "./infrastructure/locking/file/file-tenure";
export { PostgresLockProvider } from "./infrastructure/locking/postgres/postgres-lock-provider";
export type { PostgresLockOptions } from "./infrastructure/locking/postgres/postgres-lock-backend";
export type { PostgresConfig, PostgresPlace } from "./infrastructure/persistence/postgres/postgres-place";
export {
  RedisLockProvider,
  type RedisLockOptions,
} from "./infrastructure/locking/lease/redis/redis-lock-provider";
export type { IoRedisClient, RedisPlace } from "./infrastructure/locking/lease/redis/redis-location";
export { GcsLockProvider, type GcsLockOptions } from "./infrastructure/locking/lease/gcs/gcs-lock-provider";
export type { GcsClient } from "./infrastructure/gcs/gcs-requests";
export type { GcsLockLocation } from "./infrastructure/gcs/gcs-location";
export { LeaseLockProvider, type LeaseLockOptions } from "./infrastructure/locking/lease/lease-lock-provider";

/** For adapters of your own: implement `LockBackend`, and `LinedLockProvider` does the rest. */
export type {
  Attempt,
  AttemptRequest,
  LockBackend,
  Refusal,
  Semaphore,
  Tenure,
  TenureHappening,
} from "./infrastructure/locking/lock-backend";
export { slotsOver } from "./infrastructure/locking/slots/slot-search";
export type { AgreedPermits } from "./infrastructure/locking/slots/agreed-permits";
export { LinedLockProvider } from "./infrastructure/locking/line/lined-lock-provider";
export { systemLockClock, type LockClock } from "./infrastructure/locking/lock-clock";

/** For record stores of your own: implement `LeaseRecordStore`, and `LeaseLockProvider` does the rest. */
export {
  PostgresLeaseRecordStore,
  type PostgresLeaseRecordStoreSettings,
} from "./infrastructure/locking/lease/postgres/postgres-lease-record-store";
export {
  RedisLeaseRecordStore,
  type RedisLeaseRecordStoreSettings,
} from "./infrastructure/locking/lease/redis/redis-lease-record-store";
export {
  GcsLeaseRecordStore,
  type GcsLeaseRecordStoreSettings,
} from "./infrastructure/locking/lease/gcs/gcs-lease-record-store";
export type { LeaseSettings } from "./infrastructure/locking/lease/protocol/lease-settings";
export type { LeaseEnvironment } from "./infrastructure/locking/lease/protocol/lease-environment";
export {
  PermanentLeaseStoreError,
  recordVersion,
  TransientLeaseStoreError,
  type ClaimedLease,
  type LeaseRecordStore,
  type ReadLeaseRecord,
  type RecordVersion,
} from "./infrastructure/locking/lease/protocol/lease-record-store";
export {
  parseLeaseRecord,
  serializeLeaseRecord,
  UnreadableLeaseRecordError,
  type ForeignLeaseRecord,
  type LeaseFields,
  type LeaseHolder,
  type LeaseRecord,
  type StoredLeaseRecord,
} from "./infrastructure/locking/lease/protocol/lease-record";

/** Observers for a log, and how to have several. Metrics are an entry of their own, `holdfast/lock-metrics`. */
export { lockLog, type LockLogger, type LockLogLevel } from "./infrastructure/telemetry/lock-log";
export { lockObservers } from "./infrastructure/telemetry/lock-observers";

/** Until the next version. */
export {
  GcsLeaseLockProvider,
  InMemoryLockProvider,
  RedisLeaseLockProvider,
  type GcsLeaseLockProviderOptions,
  type LeaseLockProviderOptions,
  type RedisLeaseLockProviderOptions,
} from "./infrastructure/locking/former-names";
