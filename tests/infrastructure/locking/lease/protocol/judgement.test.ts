import {
  instant,
  pause,
  systemLeaseEnvironment,
} from "../../../../../src/infrastructure/locking/lease/protocol/lease-environment";
import { judge } from "../../../../../src/infrastructure/locking/lease/protocol/lease-judgement";
import {
  after,
  aheadOf,
  joined,
  lineIn,
  MOST_BEHIND,
  newLine,
  waitersIn,
} from "../../../../../src/infrastructure/locking/lease/protocol/lease-line";
import type {
  ForeignLeaseRecord,
  LeaseRecord,
  StoredLeaseRecord,
} from "../../../../../src/infrastructure/locking/lease/protocol/lease-record";
import {
  deadlySilenceMs,
  leaseSettings,
} from "../../../../../src/infrastructure/locking/lease/protocol/lease-settings";
import {
  claimed,
  neverHeld,
  released,
  renewed,
  restated,
  withLine,
} from "../../../../../src/infrastructure/locking/lease/protocol/lease-transitions";
import type { Sighting } from "../../../../../src/infrastructure/locking/lease/protocol/record-memory";
import { Ending } from "../../../../../src/infrastructure/locking/lease/tenure/ending";
import { VirtualLockClock } from "../../../../support/fakes/virtual-lock-clock";

const TTL_MS = 30_000;
/** The ttl, the margin, and one millisecond, after which an owner that is silent is dead for everybody. */
const DEAD_MS = TTL_MS + 2_000 + 1;
const settings = leaseSettings({ ttlMs: TTL_MS });

const held: LeaseRecord = {
  ownerId: "owner",
  expiresAt: 130,
  waitingOwnerId: null,
  waiterExpiresAt: null,
  ttlMs: TTL_MS,
  renewSeq: 3,
  fence: 7,
  ownerAgeMs: 0,
  holder: { host: "h", pid: 1, operation: "capture", since: 100 },
};
const foreign: ForeignLeaseRecord = {
  ownerId: "owner",
  expiresAt: 130,
  waitingOwnerId: null,
  waiterExpiresAt: null,
};

function line(...waiters: readonly string[]) {
  return newLine(waiters, 99_000);
}

function seen(
  record: StoredLeaseRecord,
  { owner = 0, waiter = 0, version = 0, storeNowMs = 0 } = {},
): Sighting {
  return {
    record,
    version: "v" as never,
    storeNowMs,
    isAgeUnknown: false,
    seenAtMs: 0,
    silence: { ownerSinceMs: owner, waiterSinceMs: waiter, versionSinceMs: version },
  };
}

const verdict = (sighting: Sighting | null, nowMs: number, ownerId = "me") =>
  judge(sighting, ownerId, nowMs, settings);

describe("what may be done about a record", () => {
  test("a record that is not there may be claimed, and one that names us is ours", () => {
    expect(verdict(null, 0)).toEqual({ kind: "claimable" });
    expect(verdict(seen(held), DEAD_MS, "owner")).toEqual({ kind: "mine" });
  });

  test("an owner is inside until it was silent for its ttl, the margin and a millisecond", () => {
    const sighting = seen(held, { owner: 1_000 });
    expect(verdict(sighting, 1_000 + DEAD_MS - 1)).toEqual({
      kind: "held",
      place: "vacant",
      turnMs: 1_000 + DEAD_MS,
    });
    expect(verdict(sighting, 1_000 + DEAD_MS)).toEqual({ kind: "claimable" });
    expect(verdict(seen({ ...held, ownerId: null }, { version: 500 }), 500)).toEqual({ kind: "claimable" });
  });

  test("a foreign owner is inside until its own expiry is over by the store's clock, and it was quiet for a minute", () => {
    const at = (storeNowMs: number, nowMs: number) =>
      verdict(seen(foreign, { owner: 1_000, storeNowMs }), nowMs);
    expect(at(130_000, 9_999_999)).toEqual({ kind: "held", place: "vacant", turnMs: Infinity });
    expect(at(130_001, 60_999)).toEqual({ kind: "held", place: "vacant", turnMs: 61_000 });
    expect(at(130_001, 61_000)).toEqual({ kind: "claimable" });
  });

  test("whoever is in front has the first turn, and each one behind it a time of its own later", () => {
    const record = { ...held, ...line("front", "second", "me") };
    const front = { kind: "held", place: "mine", turnMs: DEAD_MS };
    expect(verdict(seen(record, { waiter: 20_000 }), 20_000, "front")).toEqual(front);
    const reserved = (mayJoin: boolean, turns: number) => ({
      kind: "reserved",
      waitingOwnerId: "front",
      mayJoin,
      turnMs: DEAD_MS + turns * 5_000 + 1,
    });
    const at = (nowMs: number, ownerId: string) => verdict(seen(record, { waiter: nowMs }), nowMs, ownerId);
    expect([at(0, "second"), at(0, "me"), at(0, "new")]).toEqual([
      reserved(false, 1),
      reserved(false, 2),
      reserved(true, 3),
    ]);
    expect(at(DEAD_MS, "front")).toEqual({ kind: "claimable" });
    expect(at(DEAD_MS, "new")).toEqual(reserved(false, 3));
    expect(at(DEAD_MS + 5_000, "second")).toEqual(reserved(false, 1));
    expect(at(DEAD_MS + 5_001, "second")).toEqual({ kind: "claimable" });
  });

  test("a line has room for as many as are allowed, and that of another implementation for one", () => {
    const names = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`);
    const mayJoin = (record: StoredLeaseRecord) => {
      const answer = verdict(seen(record), 0);
      return answer.kind === "reserved" && answer.mayJoin;
    };
    expect(mayJoin({ ...held, ...line(...names(MOST_BEHIND)) })).toBe(true);
    expect(mayJoin({ ...held, ...line(...names(MOST_BEHIND + 1)) })).toBe(false);
    expect(mayJoin({ ...foreign, waitingOwnerId: "front", waiterExpiresAt: 1 })).toBe(false);
  });

  test("a front that is silent for its time and the margin loses its place, and its turn to the next one alone", () => {
    const record = { ...held, ...line("front", "second", "third") };
    const quiet = (nowMs: number, ownerId: string) => verdict(seen(record), nowMs, ownerId);
    const deadMs = 30_000 + 2_000;
    expect(DEAD_MS).toBe(deadMs + 1);
    const late = seen(record, { owner: 20_000 });
    expect(verdict(late, deadMs, "second")).toMatchObject({
      kind: "reserved",
      turnMs: 20_000 + DEAD_MS + 5_001,
    });
    expect(verdict(late, deadMs + 1, "second")).toEqual({
      kind: "held",
      place: "vacant",
      turnMs: 20_000 + DEAD_MS,
    });
    expect(verdict(late, deadMs + 1, "third")).toEqual({
      kind: "held",
      place: "vacant",
      turnMs: 20_000 + DEAD_MS + 10_001,
    });
    expect(quiet(DEAD_MS, "second")).toEqual({ kind: "claimable" });
    expect(quiet(DEAD_MS, "third")).toMatchObject({
      kind: "reserved",
      waitingOwnerId: "front",
      mayJoin: false,
    });
  });
});

describe("the next record", () => {
  const at = { monotonicMs: 5, wallMs: 200_500 };
  const claim = {
    ownerId: "me",
    renewSeq: 4,
    ttlMs: TTL_MS,
    holder: { host: "here", pid: 2, operation: null },
    at,
    fenceAbove: 0,
    waiterTtlMs: 30_000,
  };

  test("a claim takes a fence above all that is known, and lets those move up who stood behind", () => {
    expect(claimed(null, claim)).toEqual({
      ownerId: "me",
      expiresAt: 230.5,
      waitingOwnerId: null,
      waiterExpiresAt: null,
      waitingBehind: [],
      ttlMs: TTL_MS,
      renewSeq: 4,
      fence: 1,
      ownerAgeMs: 0,
      holder: { host: "here", pid: 2, operation: null, since: 200.5 },
    });
    const before = { ...held, ...line("late", "me", "next", "last") };
    expect(claimed(before, claim)).toMatchObject({
      fence: 8,
      waitingOwnerId: "next",
      waiterExpiresAt: 230.5,
      waitingBehind: ["last"],
    });
    expect(claimed(before, { ...claim, fenceAbove: 70 }).fence).toBe(71);
    expect(claimed(foreign, { ...claim, fenceAbove: 2 }).fence).toBe(3);
    expect(claimed({ ...held, ...line("other") }, claim).waitingOwnerId).toBeNull();
  });

  test("a renewal keeps who waits, and is otherwise what the owner wrote", () => {
    const found = { ...foreign, waitingOwnerId: "w", waiterExpiresAt: 5 };
    expect(renewed({ ...held, ownerAgeMs: 9 }, found, 4, at)).toEqual({
      ...held,
      waitingOwnerId: "w",
      waiterExpiresAt: 5,
      waitingBehind: [],
      expiresAt: 230.5,
      renewSeq: 4,
    });
    expect(renewed(held, { ...held, ...line("a", "b") }, 4, at)).toMatchObject(line("a", "b"));
  });

  test("a release keeps the fence and the others who wait, with the time that the front had", () => {
    const free = { ownerId: null, expiresAt: 0, holder: null, fence: 7, renewSeq: 3, ownerAgeMs: 0 };
    expect(released({ ...held, ownerAgeMs: 9 }, held)).toEqual({ ...held, ...line(), ...free });
    const found = { ...held, ...line("owner", "a", "b") };
    expect(released(held, found)).toEqual({ ...held, ...line("a", "b"), ...free, waiterExpiresAt: 99 });
    expect(released(held, { ...held, ...line("owner") })).toEqual({ ...held, ...line(), ...free });
  });

  test("who waits is changed without a change of the owner, whose age is told; the front alone says that it lives", () => {
    const found = { ...held, ...line("a") };
    const change = { by: "b", waiters: ["a", "b"], frontUntilMs: 500_000 };
    expect(withLine(found, change, 1_234.9)).toEqual({ ...found, ...line("a", "b"), ownerAgeMs: 1_234 });
    expect(withLine(found, { ...change, by: "a" }, -5)).toMatchObject({
      waiterExpiresAt: 500,
      ownerAgeMs: 0,
    });
    expect(withLine(found, { ...change, waiters: ["b"] }, 0)).toMatchObject({
      waitingOwnerId: "b",
      waiterExpiresAt: 500,
      waitingBehind: [],
    });
    expect(withLine(foreign, { ...change, waiters: ["b"] }, 9)).not.toHaveProperty("ownerAgeMs");
    expect(restated(held, 7.5)).toEqual({ ...held, ownerAgeMs: 7 });
    expect(restated(foreign, 7)).toBe(foreign);
    expect(neverHeld(5)).toEqual({
      ownerId: null,
      expiresAt: 0,
      waitingOwnerId: null,
      waiterExpiresAt: null,
      ttlMs: 5,
      renewSeq: 0,
      fence: 0,
      ownerAgeMs: 0,
      holder: null,
    });
  });
});

test("a line is in the order of the turns: who comes stands at its end, and who is served leaves those behind", () => {
  const record = { ...held, ...line("a", "b", "c") };
  expect(waitersIn(record)).toEqual(["a", "b", "c"]);
  expect(waitersIn({ ...held, waitingBehind: ["b"] })).toEqual([]);
  expect(waitersIn({ ...held, waitingOwnerId: "a" })).toEqual(["a"]);
  expect(waitersIn({ ...foreign, waitingOwnerId: "a", waitingBehind: ["b"] } as never)).toEqual(["a"]);
  expect(lineIn(record)).toEqual({ waitingOwnerId: "a", waiterExpiresAt: 99, waitingBehind: ["b", "c"] });
  expect(["a", "c", "x"].map((name) => aheadOf(name, ["a", "b", "c"]))).toEqual([0, 2, 3]);
  expect(["a", "c", "x"].map((name) => after(name, ["a", "b", "c"]))).toEqual([["b", "c"], [], []]);
  expect(joined("x", ["a", "b"], false)).toEqual(["a", "b", "x"]);
  expect(joined("x", ["a", "b"], true)).toEqual(["b", "x"]);
  expect(joined("b", ["a", "b"], true)).toEqual(["b"]);
  expect(joined("a", ["a", "b"], true)).toEqual(["b", "a"]);
});

describe("the settings of a lease", () => {
  test("the settings of a lease that nobody chose are these", () => {
    expect(leaseSettings()).toEqual({
      ttlMs: 30_000,
      marginMs: 2_000,
      waiterCheckMs: 2_000,
      waiterPollMs: 1_000,
      waiterRenewMs: 10_000,
      waiterTtlMs: 30_000,
      yieldMs: 5_000,
      foreignQuietMs: 60_000,
      requestTimeoutMs: 5_000,
      closeMs: 5_000,
      rememberedIds: 10_000,
    });
  });

  test("a request of a short lease has a sixth of it, so that four of them fit in before its end", () => {
    expect(leaseSettings({ ttlMs: 6_005 }).requestTimeoutMs).toBe(1_000);
    expect(leaseSettings({ ttlMs: 60_000 }).requestTimeoutMs).toBe(5_000);
    expect(leaseSettings({ ttlMs: 6_000, requestTimeoutMs: 7 }).requestTimeoutMs).toBe(7);
  });

  test.each([
    [{ ttlMs: 999 }, "ttlMs must be at least 1000"],
    [{ marginMs: 1_999 }, "marginMs must be at least 2000"],
    [{ yieldMs: 0 }, "yieldMs must be a whole number above 0"],
    [{ closeMs: 1.5 }, "closeMs must be a whole number above 0"],
    [{ waiterPollMs: NaN }, "waiterPollMs must be a whole number above 0"],
  ])("settings that would undermine the protocol are refused: %j", (chosen, words) => {
    expect(() => leaseSettings(chosen)).toThrow(new RangeError(words));
    expect(leaseSettings({ ttlMs: 1_000, marginMs: 2_000 })).toMatchObject({ ttlMs: 1_000, marginMs: 2_000 });
  });

  test("a silence is deadly after the ttl and the margin, or three hundredths of a long ttl", () => {
    expect([1_000, 66_666, 100_001].map((ttlMs) => deadlySilenceMs(ttlMs, settings))).toEqual([
      3_000, 68_666, 103_002,
    ]);
  });
});

describe("a pause", () => {
  test("a pause lasts as long as it is to, or until it is broken off, and leaves nothing behind", async () => {
    const clock = new VirtualLockClock();
    const ending = new Ending();
    let over = 0;
    void pause(clock, 1_000, ending).then(() => (over += 1));
    void pause(clock, 1_000).then(() => (over += 1));
    await clock.advance(999);
    expect(over).toBe(0);
    await clock.advance(1);
    expect(over).toBe(2);
    const broken = pause(clock, 1_000, ending);
    ending.call();
    await broken;
    expect(clock.pendingTimers).toBe(0);
    await pause(clock, 1_000, ending);
    const none = pause(clock, -5);
    await clock.advance(0);
    await none;
    expect(instant(clock)).toEqual({ monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() });
  });

  test("a process of its own has a name, a host and numbers that nobody else draws", () => {
    const { host, pid, nonce, random } = systemLeaseEnvironment;
    expect([host.length > 0, pid]).toEqual([true, process.pid]);
    expect(nonce()).not.toBe(nonce());
    expect(nonce().length).toBeGreaterThanOrEqual(12);
    expect(random()).not.toBe(random());
  });
});
