import { LockLostError, LockTimeoutError } from "../../../../src/application/ports/lock-errors";
import { VirtualLeases } from "../../../../src/lock-testing";
import { Gate } from "../../../support/fakes/gate";

const ID = "payment:42";

describe("leases on virtual time", () => {
  let leases: VirtualLeases;
  beforeEach(() => {
    leases = new VirtualLeases();
  });

  it("keep two processes apart, and let the next one in after a release", async () => {
    const [one, two] = [leases.process("web-1"), leases.process("web-2")];
    const end = new Gate();
    const first = one.withLock(ID, () => end.passed);
    await leases.clock.advance(0);
    const refused = two.withLock(ID, async () => {}, { timeout: 0 });
    refused.catch(() => {});
    await leases.clock.advance(100);
    await expect(refused).rejects.toThrow(LockTimeoutError);
    await expect(refused).rejects.toMatchObject({ holder: { host: "web-1", pid: 1 } });
    end.open();
    await first;
    const next = two.withLock(ID, async () => "in");
    await leases.clock.advance(10_000);
    expect(await next).toBe("in");
    await leases.close();
  });

  it("last as long as their holder lives, however much time passes", async () => {
    const end = new Gate();
    const held = leases.process("web-1").withLock(ID, async (hold) => {
      await end.passed;
      hold.assertHeld();
    });
    await leases.clock.advance(3_600_000);
    end.open();
    await held;
    await leases.close();
  });

  it("leases on virtual time are lost by a process that stalls, go to another with a higher fence, and the first one can know", async () => {
    const [one, two] = [leases.process("web-1"), leases.process("web-2")];
    const end = new Gate();
    let fence = 0n;
    const stalled = one.withLock(ID, async (hold) => {
      fence = hold.fencingToken;
      await end.passed;
      expect(() => hold.assertHeld()).toThrow(LockLostError);
      expect(hold.signal.aborted).toBe(true);
    });
    await leases.clock.advance(0);
    leases.clock.stall(31_000);
    const next = two.withLock(ID, async (hold) => hold.fencingToken, { timeout: 60_000 });
    await leases.clock.advance(60_000);
    expect(await next).toBeGreaterThan(fence);
    end.open();
    await stalled;
    await leases.close();
  });

  it("leases on virtual time are handed over on request", async () => {
    const [one, two] = [leases.process("web-1"), leases.process("web-2")];
    const owner = one.handoffLock(ID);
    const owned = owner.acquire();
    await leases.clock.advance(0);
    await owned;
    owner.onReleaseRequested(() => void owner.release());
    const waiter = two.handoffLock(ID);
    const taken = waiter.acquire({ timeout: 20_000 });
    await leases.clock.advance(20_000);
    expect((await taken).resourceId).toBe(ID);
    await leases.close();
  });

  it("leave no timer behind", async () => {
    await leases.process("web-1").withLock(ID, async () => {});
    await leases.close();
    expect(leases.clock.pendingTimers).toBe(0);
  });
});
