import { tryWithLock } from "../../../../src/application/locking/try-with-lock";
import type { LeaseLockProvider } from "../../../../src/infrastructure/locking/lease/lease-lock-provider";
import { TransientLeaseStoreError } from "../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { VirtualLeases } from "../../../../src/lock-testing";

const ID = "task:mail";
/** Until when others respect it: the rest, their margin (2 s, or 3 % for clocks that drift), and the steps of their own claim. */
const latestMs = (lockAtLeastFor: number): number =>
  lockAtLeastFor + Math.max(2_000, 0.03 * lockAtLeastFor) + 1_500;

describe("a lease that is left for the rest of its minimum hold", () => {
  let leases: VirtualLeases;
  let one: LeaseLockProvider;
  let two: LeaseLockProvider;
  beforeEach(() => {
    leases = new VirtualLeases();
    [one, two] = [leases.process("one"), leases.process("two")];
  });
  afterEach(async () => {
    await leases.close();
    expect(leases.clock.pendingTimers).toBe(0);
  });

  const keep = async (lockAtLeastFor: number): Promise<void> => {
    const kept = one.withLock(ID, () => undefined, { lockAtLeastFor, release: "await" });
    await leases.clock.advance(0);
    await kept;
  };

  /** When the other process gets in. */
  const nextMs = async (): Promise<number> => {
    const next = two.withLock(ID, () => leases.clock.monotonicMs(), { timeout: 600_000 });
    await leases.clock.advance(600_000);
    return next;
  };

  it.each([4_000, 30_000, 300_000])(
    "a lease that is left keeps the other process out for %i ms, and hardly longer, without a further write",
    async (lockAtLeastFor) => {
      await keep(lockAtLeastFor);
      const closed = one.close();
      await leases.clock.advance(0);
      await closed;
      const inMs = await nextMs();
      expect(inMs).toBeGreaterThanOrEqual(lockAtLeastFor);
      expect(inMs).toBeLessThan(latestMs(lockAtLeastFor));
    },
  );

  it("a minimum hold counts from the acquisition, and not from the end of the section", async () => {
    const pause = new Promise<void>((resolve) => leases.clock.after(50_000, resolve));
    const kept = one.withLock(ID, () => pause, { lockAtLeastFor: 60_000 });
    await leases.clock.advance(50_001);
    await kept;
    const inMs = await nextMs();
    expect(inMs).toBeGreaterThanOrEqual(60_000);
    expect(inMs).toBeLessThan(latestMs(60_000));
  });

  it("a lease that is left keeps its waiter's place, and waits for its own process, too", async () => {
    const end = new Promise<void>((resolve) => leases.clock.after(5_000, resolve));
    const kept = one.withLock(ID, () => end, { lockAtLeastFor: 40_000 });
    await leases.clock.advance(100);
    // Its place is written into the record after the owner's last write: the last renewal meets a conflict.
    const order: string[] = [];
    const other = two.withLock(ID, () => order.push(`two ${leases.clock.monotonicMs() >= 40_000}`));
    await leases.clock.advance(5_000);
    await kept;
    const own = one.withLock(ID, () => order.push("one"));
    await leases.clock.advance(120_000);
    await Promise.all([other, own]);
    expect(order).toEqual(["two true", "one"]);
  });

  it("the last renewal is written again after failures, with what is left of the time by then", async () => {
    const write = leases.records.write.bind(leases.records);
    let failures = 0;
    leases.records.write = (id, record, ifVersion) => {
      const isLast = record.ttlMs !== undefined && record.ttlMs !== 30_000 && failures < 3;
      if (!isLast) return write(id, record, ifVersion);
      failures += 1;
      return Promise.reject(new TransientLeaseStoreError("busy"));
    };
    const kept = one.withLock(ID, () => undefined, { lockAtLeastFor: 60_000 });
    await leases.clock.advance(5_000);
    await kept;
    expect(failures).toBe(3);
    const inMs = await nextMs();
    expect(inMs).toBeGreaterThanOrEqual(60_000);
    expect(inMs).toBeLessThan(latestMs(60_000));
  });

  it("the last renewal leaves the record alone if it is another's by then", async () => {
    const lost = one.withLock(
      ID,
      async () => {
        const seen = (await leases.records.read(ID))!;
        await leases.records.write(ID, { ...seen.record, ownerId: "another" }, seen.version);
      },
      { lockAtLeastFor: 60_000 },
    );
    await leases.clock.advance(10_000);
    await lost;
    expect((await leases.records.read(ID))?.record).toMatchObject({ ownerId: "another", ttlMs: 30_000 });
  });

  it("a lease is not kept if it was lost before the section ended", async () => {
    const end = new Promise<void>((resolve) => leases.clock.after(20_000, resolve));
    const lost = one.withLock(
      ID,
      async () => {
        await leases.records.remove(ID, (await leases.records.read(ID))!.version);
        await end;
      },
      { lockAtLeastFor: 60_000 },
    );
    await leases.clock.advance(21_000);
    await lost;
    const next = tryWithLock(two, ID, () => "in");
    await leases.clock.advance(2_000);
    expect(await next).toBe("in");
  });
});
