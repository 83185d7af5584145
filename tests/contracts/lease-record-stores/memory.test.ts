import { MemoryLeaseRecordStore } from "../../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import { VirtualLockClock } from "../../support/fakes/virtual-lock-clock";
import { describeLeaseRecordStoreContract } from "./lease-record-store-contract";

let clock: VirtualLockClock;

describeLeaseRecordStoreContract({
  name: MemoryLeaseRecordStore.name,
  open: () => {
    clock = new VirtualLockClock();
    const store = new MemoryLeaseRecordStore(clock);
    return {
      store,
      another: store,
      place: (id) => `the record of "${id}" in memory`,
      putText: (id, text) => void store.putText(id, text),
    };
  },
  pass: (ms) => clock.advance(ms),
});
