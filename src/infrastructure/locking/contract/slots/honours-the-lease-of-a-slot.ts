import { strict as assert } from "node:assert";
import { slotName } from "../../../../application/locking/slots";
import { LockLostError, LockTimeoutError } from "../../../../application/ports/lock-errors";
import { within, type LockContractTest } from "../contract-test";
import { enter, occupy } from "../steps";

export const honoursTheLeaseOfASlot: readonly LockContractTest[] = [
  {
    layer: "honours the lease of a slot",
    name: "the provider tells a holder that its slot is lost, and lets one other holder in for it",
    run: async (world) => {
      const { lease, patienceMs } = world;
      assert.ok(lease !== undefined, '"honours the lease of a slot" needs `lease`');
      const permits = 2;
      const others = { ...world, locks: await lease.another() };
      const { hold, leave } = await occupy(world, "a", { permits });
      const other = await occupy(others, "a", { permits });
      const lost = new Promise((resolve) => hold.signal.addEventListener("abort", resolve));
      await lease.lose(slotName("a", hold.slot ?? 0));
      await within(patienceMs, lost);
      assert.throws(
        () => hold.assertHeld(),
        (error) => error instanceof LockLostError && error.resourceId === "a",
      );
      const next = await occupy(others, "a", { permits });
      assert.equal(next.hold.slot, hold.slot);
      assert.ok(next.hold.fencingToken > hold.fencingToken, "the next holder's token is greater");
      // A stale holder cannot free its successor's slot.
      await leave();
      next.hold.assertHeld();
      await assert.rejects(
        others.locks.withLock("a", world.mustNotRun, { permits, timeout: 0 }),
        LockTimeoutError,
      );
      await next.leave();
      await other.leave();
      assert.equal(await enter(world, "a", () => "in", { permits }), "in");
    },
  },
];
