import { recordVersion } from "../../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { leaseSettings } from "../../../../../src/infrastructure/locking/lease/protocol/lease-settings";
import { neverHeld } from "../../../../../src/infrastructure/locking/lease/protocol/lease-transitions";
import { RecordMemory } from "../../../../../src/infrastructure/locking/lease/protocol/record-memory";

const reading = (version: number) => ({
  record: { ...neverHeld(30_000), ownerId: "x:1:t", fence: 1 },
  version: recordVersion(version),
  storeNowMs: 0,
});

describe("what a process remembers of records", () => {
  test("what a process remembers of records is bounded: the id least recently seen is forgotten, and begins anew", () => {
    const memory = new RecordMemory(leaseSettings({ rememberedIds: 1_000 }));
    for (let index = 0; index < 100_000; index += 1) memory.saw(`id ${index}`, reading(index), index);
    expect(memory.size).toBe(1_000);
    expect(memory.saw("id 99999", reading(99_999), 200_000).silence.ownerSinceMs).toBe(99_999);
    expect(memory.saw("id 1", reading(1), 200_000).silence.ownerSinceMs).toBe(200_000);
    expect(memory.size).toBe(1_000);
  });

  test("what a process remembers of records forgets nothing that is looked at again and again", () => {
    const memory = new RecordMemory(leaseSettings({ rememberedIds: 2 }));
    memory.saw("watched", reading(1), 0);
    for (let index = 0; index < 10; index += 1) {
      memory.saw(`passing ${index}`, reading(1), index);
      expect(memory.saw("watched", reading(1), index).silence.ownerSinceMs).toBe(0);
    }
  });

  test("what a process remembers of records hands out a release of ours once, and never after somebody else's record was seen", () => {
    const memory = new RecordMemory(leaseSettings());
    const record = neverHeld(30_000);
    expect(memory.takeReleased("a")).toBe("never met");
    memory.keepReleased("a", record, recordVersion(7));
    expect(memory.takeReleased("a")).toEqual({ record, version: "7" });
    expect(memory.takeReleased("a")).toBeUndefined();
    memory.keepReleased("a", record, recordVersion(8));
    memory.saw("a", reading(9), 0);
    expect(memory.takeReleased("a")).toBeUndefined();
  });
});

describe("lease settings", () => {
  test("leave room for four unanswered renewals, whatever the ttl", () => {
    expect(leaseSettings().requestTimeoutMs).toBe(5_000);
    expect(leaseSettings({ ttlMs: 15_000 }).requestTimeoutMs).toBe(2_500);
  });

  test.each([{ marginMs: 1_999 }, { ttlMs: 999 }, { ttlMs: 0 }, { waiterPollMs: 0.5 }, { ttlMs: NaN }])(
    "lease settings such as %p are refused",
    (chosen) => {
      expect(() => leaseSettings(chosen)).toThrow(RangeError);
    },
  );
});
