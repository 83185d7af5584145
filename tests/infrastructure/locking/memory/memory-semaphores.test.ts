import { MemoryLockProvider } from "../../../../src/infrastructure/locking/memory/memory-lock-provider";
import { Gate, settled } from "../../../support/fakes/gate";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";

let clock: VirtualLockClock;
let locks: MemoryLockProvider;

beforeEach(() => {
  clock = new VirtualLockClock();
  locks = new MemoryLockProvider({ clock });
});

afterEach(async () => {
  await settled();
  expect(locks.size).toBe(0);
});

const tokenOf = (id: string): Promise<bigint> => locks.withLock(id, ({ fencingToken }) => fencingToken);

test("in memory, a lock and a semaphore of one name are two things", async () => {
  const gate = new Gate();
  const locked = locks.withLock("a", () => gate.passed, { purpose: "lock" });
  expect(await locks.withLock("a", ({ slot }) => slot, { permits: 1, timeout: 0 })).toBe(1);
  const inSlot = locks.withLock("a", () => gate.passed, { permits: 2, purpose: "slot" });
  await settled();
  expect(locks.queues().map(({ resourceId, holder }) => [resourceId, holder?.purpose])).toEqual([
    ["a", "lock"],
    ["a", "slot"],
  ]);
  gate.open();
  await Promise.all([locked, inSlot]);
});

test("in memory, whoever is inside stands for a semaphore, also in the last of its slots, and nobody before one is", async () => {
  const gates = [new Gate(), new Gate(), new Gate()];
  const inside = gates.map((gate, n) =>
    locks.withLock("a", ({ slot }) => gate.passed.then(() => slot), {
      permits: 3,
      purpose: `holder ${n + 1}`,
    }),
  );
  expect(locks.queues()).toEqual([{ resourceId: "a", waiting: 0 }]);
  await settled();
  const holder = (): unknown => locks.queues()[0]?.holder?.purpose;
  expect(holder()).toBe("holder 1");
  gates[0]!.open();
  await settled();
  expect(holder()).toBe("holder 2");
  gates[1]!.open();
  await settled();
  expect(holder()).toBe("holder 3");
  const refused = locks.withLock("a", () => {}, { permits: 2 });
  await expect(refused).rejects.toMatchObject({ code: "lock_permits", holder: { purpose: "holder 3" } });
  gates[2]!.open();
  expect(await Promise.all(inside)).toEqual([1, 2, 3]);
});

test("in memory, a slot that was left is the first that is given again", async () => {
  const gates = [new Gate(), new Gate(), new Gate()];
  const enter = (gate: Gate): Promise<number | undefined> =>
    locks.withLock("a", ({ slot }) => gate.passed.then(() => slot), { permits: 3 });
  const first = enter(gates[0]!);
  const second = enter(gates[1]!);
  await settled();
  gates[0]!.open();
  expect(await first).toBe(1);
  const third = enter(gates[2]!);
  await settled();
  gates[1]!.open();
  gates[2]!.open();
  expect(await Promise.all([second, third])).toEqual([2, 1]);
});

test("in memory, a fencing token is greater than the last one although its line was forgotten and the clock set back since", async () => {
  const inner = locks as unknown as { lines: { fewResting: number; byId: Map<string, unknown> } };
  inner.lines.fewResting = 0;
  const before = await tokenOf("a");
  await clock.advance(10);
  await tokenOf("b");
  expect(inner.lines.byId.has("a")).toBe(false);
  clock.stall(-3_600_000);
  expect(await tokenOf("a")).toBeGreaterThan(before);
});

test("in memory, an id that is locked again and again within a millisecond takes no other id's tokens ahead of the clock", async () => {
  const first = await tokenOf("a");
  for (let n = 0; n < 20_500; n += 1) await locks.withLock("busy", () => {});
  expect(await tokenOf("b")).toBe(first);
});
