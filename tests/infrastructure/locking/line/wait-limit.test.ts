import type { LockTimeoutPolicy } from "../../../../src/application/ports/lock-timeout";
import { limitOf } from "../../../../src/infrastructure/locking/line/wait-limit";
import { LeaseLockProvider } from "../../../../src/infrastructure/locking/lease/lease-lock-provider";
import { MemoryLeaseRecordStore } from "../../../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import { Gate } from "../../../support/fakes/gate";

type Given = Parameters<typeof limitOf>[0];

test.each([{ timeout: 300 }, { timeout: 300, source: 5 }, {}, null, undefined, true])(
  "a limit that does not say who set it is refused in words: %p",
  (given) => {
    expect(() => limitOf(given as unknown as Given)).toThrow(TypeError);
    expect(() => limitOf(given as unknown as Given)).toThrow(/\{ timeout, source \} with a text/);
  },
);

test("a fraction of a millisecond is rounded up, so that it does not become a single attempt", () => {
  expect(limitOf(0.2).timeout).toBe(1);
  expect(limitOf({ timeout: 1.5, source: "a policy" })).toEqual({ timeout: 2, source: "a policy" });
});

test("a policy that does not say who set its limit fails its caller, who may be waiting, and leaves the lock usable", async () => {
  const store = new MemoryLeaseRecordStore();
  const timeouts = (() => ({ timeout: 20 })) as unknown as LockTimeoutPolicy;
  const [odd, other] = [new LeaseLockProvider(store, { timeouts }), new LeaseLockProvider(store)];
  const gate = new Gate();
  const inside = new Gate();
  const held = other.withLock("a", () => (inside.open(), gate.passed));
  await inside.passed;
  await expect(odd.withLock("a", () => "in")).rejects.toThrow(TypeError);
  gate.open();
  await held;
  expect(await odd.withLock("a", () => "in", { timeout: 5_000 })).toBe("in");
  await Promise.all([odd.close(), other.close()]);
});
