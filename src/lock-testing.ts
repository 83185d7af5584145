/** `holdfast/lock-testing`: leases on virtual time for tests of your own, and the contract for a record store of your own. */
export { VirtualLeases, type VirtualProcessOptions } from "./infrastructure/locking/testing/virtual-leases";
export { VirtualLockClock } from "./infrastructure/locking/testing/virtual-lock-clock";
export { MemoryLeaseRecordStore } from "./infrastructure/locking/lease/memory/memory-lease-record-store";
export { describeLeaseRecordStore } from "./infrastructure/locking/testing/describe-lease-record-store";
export type {
  LeaseRecordStoreUnderTest,
  OpenedLeaseRecords,
} from "./infrastructure/locking/testing/record-store-test";
