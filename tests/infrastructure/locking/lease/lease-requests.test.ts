import { LeaseLockProvider } from "../../../../src/infrastructure/locking/lease/lease-lock-provider";
import { MemoryLeaseRecordStore } from "../../../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import { systemLeaseEnvironment } from "../../../../src/infrastructure/locking/lease/protocol/lease-environment";
import { ScriptedLeaseStore } from "../../../support/fakes/scripted-lease-store";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";
import { settled } from "../../../support/fakes/gate";

const id = "payment:1";

function twoProcesses() {
  const clock = new VirtualLockClock();
  const records = new MemoryLeaseRecordStore(clock);
  const environment = { ...systemLeaseEnvironment, clock };
  const [storeA, storeB] = [new ScriptedLeaseStore(records), new ScriptedLeaseStore(records)];
  const a = new LeaseLockProvider(storeA, { environment });
  const b = new LeaseLockProvider(storeB, { environment });
  return { clock, a, b, storeA, storeB };
}

describe("the number of requests of a lease", () => {
  test("the number of requests of a lease is two for an uncontended cycle on an id that was never locked", async () => {
    const { a, storeA } = twoProcesses();
    await a.withLock(id, () => Promise.resolve());
    await settled();
    expect(storeA.takeRequests()).toEqual(["write", "write"]);
  });

  test("the number of requests of a lease is two for each further cycle on an id that we locked last", async () => {
    const { a, storeA } = twoProcesses();
    await a.withLock(id, () => Promise.resolve());
    await settled();
    storeA.takeRequests();
    await a.withLock(id, () => Promise.resolve());
    await a.withLock(id, () => Promise.resolve());
    await settled();
    expect(storeA.takeRequests()).toEqual(["write", "write", "write", "write"]);
  });

  test("the number of requests of a lease is four after another process had the lock, whether or not we had it before", async () => {
    const { a, b, storeA, storeB } = twoProcesses();
    await a.withLock(id, () => Promise.resolve());
    await settled();
    await b.withLock(id, () => Promise.resolve());
    await settled();
    expect(storeB.takeRequests()).toEqual(["write", "read", "write", "write"]);
    storeA.takeRequests();
    await a.withLock(id, () => Promise.resolve());
    await settled();
    expect(storeA.takeRequests()).toEqual(["write", "read", "write", "write"]);
  });

  test("the number of requests of a lease is none between claim and release as long as no renewal is due, and one for each renewal", async () => {
    const { a, clock, storeA } = twoProcesses();
    await a.withLock(id, async () => {
      storeA.takeRequests();
      await clock.advance(9_999);
      expect(storeA.takeRequests()).toEqual([]);
      await clock.advance(2);
      expect(storeA.takeRequests()).toEqual(["write"]);
      await clock.advance(10_000);
      expect(storeA.takeRequests()).toEqual(["write"]);
    });
    await settled();
    expect(storeA.takeRequests()).toEqual(["write"]);
    expect(clock.pendingTimers).toBe(0);
  });
});
