import {
  TransientLeaseStoreError,
  type LeaseRecordStore,
} from "../../../src/infrastructure/locking/lease/protocol/lease-record-store";

/** From here on, nobody gets a lease out of its record through this store. */
export function refuseReleases(records: LeaseRecordStore): void {
  const write = records.write.bind(records);
  records.write = (id, record, ifVersion) =>
    record.ownerId === null
      ? Promise.reject(new TransientLeaseStoreError("refused"))
      : write(id, record, ifVersion);
}
