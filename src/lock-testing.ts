/**
 * `holdfast/lock-testing`: leases on virtual time and locks that fail on order, for tests of your own, and the contract for
 * a record store of your own. Runs under any test runner, and loads none.
 */
export { FaultyLockProvider, type LockFault } from "./infrastructure/locking/testing/faulty-lock-provider";
export { VirtualLeases, type VirtualProcessOptions } from "./infrastructure/locking/testing/virtual-leases";
export { VirtualLockClock } from "./infrastructure/locking/testing/virtual-lock-clock";
export { MemoryLeaseRecordStore } from "./infrastructure/locking/lease/memory/memory-lease-record-store";
export { describeLeaseRecordStore } from "./infrastructure/locking/testing/describe-lease-record-store";
export type {
  LeaseRecordStoreUnderTest,
  OpenedLeaseRecords,
} from "./infrastructure/locking/testing/record-store-test";
