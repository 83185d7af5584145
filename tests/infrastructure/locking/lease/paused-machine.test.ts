import { LockLostError } from "../../../../src/application/ports/lock-errors";
import type { LockHold } from "../../../../src/application/ports/lock-provider";
import { LeaseLockProvider } from "../../../../src/infrastructure/locking/lease/lease-lock-provider";
import { MemoryLeaseRecordStore } from "../../../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import { Gate, settled } from "../../../support/fakes/gate";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";

const ID = "task:nightly";

/** A machine with clocks of its own, which stand still while nobody lets its time pass. */
function machine(host: string, records: MemoryLeaseRecordStore) {
  const clock = new VirtualLockClock();
  let nonces = 0;
  const environment = { clock, random: () => 0.5, nonce: () => `n${(nonces += 1)}`, host, pid: 1 };
  return { clock, locks: new LeaseLockProvider(records, { environment }) };
}

/** What docs/locking.md says of it: a promise that is not made, and how long the damage lasts. */
test("a machine that is paused with both its clocks believes in its lease until its next renewal, and no longer", async () => {
  const storesClock = new VirtualLockClock();
  const records = new MemoryLeaseRecordStore(storesClock);
  const paused = machine("paused", records);
  const other = machine("other", records);

  const end = new Gate();
  let hold: LockHold | undefined;
  const held = paused.locks.withLock(ID, async (given) => {
    hold = given;
    await end.passed;
  });
  await paused.clock.advance(0);

  const next = other.locks.withLock(ID, async ({ fencingToken }) => fencingToken, { timeout: 60_000 });
  for (let second = 0; second < 40; second += 1) {
    storesClock.stall(1_000);
    await other.clock.advance(1_000);
  }
  expect(await next).toBeGreaterThan(hold!.fencingToken);
  expect(() => hold!.assertHeld()).not.toThrow();

  await paused.clock.advance(10_000);
  expect(() => hold!.assertHeld()).toThrow(LockLostError);
  expect(hold!.signal.aborted).toBe(true);

  end.open();
  await held;
  await settled();
  const closed = Promise.all([paused.locks.close(), other.locks.close()]);
  await paused.clock.advance(60_000);
  await other.clock.advance(60_000);
  await closed;
});
