import { LeaseLockInspector } from "../../../../../src/infrastructure/locking/lease/lease-lock-inspector";
import { LeasePermits, permitsRecordOf } from "../../../../../src/infrastructure/locking/lease/lease-permits";
import { MemoryLeaseRecordStore } from "../../../../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import type { LeaseRecord } from "../../../../../src/infrastructure/locking/lease/protocol/lease-record";
import {
  PermanentLeaseStoreError,
  TransientLeaseStoreError,
} from "../../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { leaseSettings } from "../../../../../src/infrastructure/locking/lease/protocol/lease-settings";
import { neverHeld } from "../../../../../src/infrastructure/locking/lease/protocol/lease-transitions";
import { RecordMemory } from "../../../../../src/infrastructure/locking/lease/protocol/record-memory";
import { Ending } from "../../../../../src/infrastructure/locking/lease/tenure/ending";
import { Stop } from "../../../../../src/infrastructure/locking/lease/tenure/stop";
import { TenureRequests } from "../../../../../src/infrastructure/locking/lease/tenure/tenure-requests";
import { settled } from "../../../../support/fakes/gate";
import { ScriptedLeaseStore } from "../../../../support/fakes/scripted-lease-store";
import { VirtualLockClock } from "../../../../support/fakes/virtual-lock-clock";
import { fate, LeaseWorld } from "../../../../support/worlds/lease-world";

const ID = "a";
const settings = leaseSettings();

let clock: VirtualLockClock;
let records: MemoryLeaseRecordStore;
let store: ScriptedLeaseStore;
let memory: RecordMemory;
let ending: Ending;
let requests: TenureRequests;

beforeEach(() => {
  clock = new VirtualLockClock();
  records = new MemoryLeaseRecordStore(clock);
  store = new ScriptedLeaseStore(records);
  memory = new RecordMemory(settings);
  ending = new Ending();
  requests = new TenureRequests(ID, "me", {
    clock,
    store,
    memory,
    settings,
    ending,
    random: () => 0.5,
    nonce: () => "n",
    host: "h",
    pid: 1,
  });
});

const free: LeaseRecord = { ...neverHeld(30_000), fence: 4 };
const mine: LeaseRecord = { ...free, ownerId: "me", renewSeq: 1 };

/** What became of a request, once so much time has passed. */
async function after<T>(ms: number, work: Promise<T>): Promise<unknown> {
  let became: unknown = "nothing yet";
  work.then(
    (value) => (became = value),
    (error: unknown) => (became = (error as Error).message),
  );
  await clock.advance(ms);
  await settled();
  return became;
}

describe("whoever waits for an end", () => {
  test("whoever waits for an end is told once, unless it has stopped listening; the last one counts where one listens", () => {
    const told: string[] = [];
    const say = (what: string) => () => void told.push(what);
    const stop = new Stop();
    const stopFirst = stop.onCalled(say("first"));
    stop.onCalled(say("second"));
    stopFirst();
    stop.call();
    stop.call();
    expect([stop.isCalled, told]).toEqual([true, ["second"]]);
    const other = new Stop();
    other.onCalled(say("never"))();
    other.call();

    const many = new Ending();
    many.onCalled(say("one"));
    many.onCalled(say("gone"))();
    many.onCalled(say("two"));
    many.call();
    many.call();
    expect([many.isCalled, told]).toEqual([true, ["second", "one", "two"]]);
  });
});

describe("a request", () => {
  test("a request has its time, and two seconds once the provider is closed", async () => {
    store.next("read", fate.lost);
    expect(await after(4_999, requests.read())).toBe("nothing yet");
    store.next("read", fate.lost);
    expect(await after(5_000, requests.read())).toBe("no answer within 5000 ms");
    store.next("read", fate.lost);
    const open = requests.read();
    const became = after(100, open);
    ending.call();
    expect(await became).toBe("no answer before the lock provider was closed");
    store.next("read", fate.lost);
    expect(await after(2_000, requests.read())).toBe("no answer within 2000 ms");
    await clock.advance(10_000);
    expect(clock.pendingTimers).toBe(0);
  });

  test("a request that was answered leaves neither a timer nor somebody who listens", async () => {
    const stopped = jest.fn();
    const listening = jest.spyOn(ending, "onCalled").mockImplementation(() => stopped);
    await requests.read();
    store.next("read", fate.failed(new Error("no")));
    await expect(requests.read()).rejects.toThrow("no");
    expect(listening).toHaveBeenCalledTimes(2);
    expect(stopped).toHaveBeenCalledTimes(2);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("what was sent", () => {
  test("what was sent and not answered may land until the record is seen at another version", async () => {
    expect([requests.nothingUndecided, requests.mayHaveLeftTrace]).toEqual([true, false]);
    store.next("write", fate.lost);
    await after(5_000, requests.write(mine, "absent"));
    expect([requests.nothingUndecided, requests.mayStillLand("absent"), requests.mayHaveLeftTrace]).toEqual([
      false,
      true,
      true,
    ]);
    await requests.read();
    expect([requests.mayStillLand("absent"), requests.mayHaveLeftTrace]).toEqual([true, true]);
    await records.write(ID, free, "absent");
    await requests.read();
    expect([requests.nothingUndecided, requests.mayHaveLeftTrace]).toEqual([true, false]);
  });

  test("what was refused for good leaves no trace, unless an earlier one of the same may still land", async () => {
    const refuse = () => store.next("write", fate.failed(new PermanentLeaseStoreError("403")));
    refuse();
    await expect(requests.write(mine, "absent")).rejects.toThrow("403");
    expect([requests.nothingUndecided, requests.mayHaveLeftTrace]).toEqual([true, false]);
    store.next("write", fate.lost);
    await after(5_000, requests.write(mine, "absent"));
    refuse();
    await expect(requests.write(mine, "absent")).rejects.toThrow("403");
    expect([requests.mayStillLand("absent"), requests.mayHaveLeftTrace]).toEqual([true, true]);
  });

  test("what a conflict answers changes nothing of what may be there; what is written shows whether we are named", async () => {
    const version = await records.write(ID, free, "absent");
    if (version === "conflict") throw new Error("not written");
    expect(await requests.write(mine, "absent")).toBe("conflict");
    const written = await requests.write(mine, version);
    expect(written).toMatchObject({ sentAt: { monotonicMs: clock.monotonicMs() } });
    expect(requests.mayHaveLeftTrace).toBe(true);
    if (written === "conflict") throw new Error("not written");
    await requests.write(free, written.answer);
    expect(requests.mayHaveLeftTrace).toBe(false);
    const waiting = { ...free, waitingOwnerId: "other", waitingBehind: ["me"] };
    const seen = await requests.read();
    await requests.write(waiting, seen!.version);
    expect(requests.mayHaveLeftTrace).toBe(true);
  });

  test("what the store asks to slow down waits a second from the last change, and a little longer from an unknown one", async () => {
    const throttle = () =>
      store.next("write", fate.failed(new TransientLeaseStoreError("429", { throttled: true })));
    throttle();
    await expect(requests.write(mine, "absent")).rejects.toThrow("429");
    expect(requests.throttledForMs).toBe(1_050 + 125);
    store.takeRequests();
    const sending = requests.write(mine, "absent");
    await clock.advance(1_174);
    expect(store.takeRequests()).toEqual([]);
    await clock.advance(1);
    await sending;
    expect(store.takeRequests()).toEqual(["write"]);

    const { version } = (await requests.read())!;
    await clock.advance(400);
    throttle();
    await expect(requests.write(mine, version)).rejects.toThrow("429");
    expect(requests.throttledForMs).toBe(600 + 125);
    ending.call();
    await requests.write(mine, version);
  });

  test("a claim counts from before it was sent, or from before it was last certainly not applied", async () => {
    const begunMs = clock.monotonicMs();
    store.next("write", fate.lost);
    await after(5_000, requests.claim(mine, "absent"));
    expect(requests.claimedNotBefore(mine)).toMatchObject({ monotonicMs: begunMs });
    await clock.advance(1_000);
    const readMs = clock.monotonicMs();
    await requests.read();
    expect(requests.claimedNotBefore(mine)).toMatchObject({ monotonicMs: readMs });
    expect(requests.claimedNotBefore({ ...mine, renewSeq: 2 })).toBeUndefined();
    expect(requests.claimedNotBefore({ ...mine, ownerId: "other" })).toBeUndefined();
    for (let renewSeq = 2; renewSeq <= 17; renewSeq += 1)
      await requests.claim({ ...mine, renewSeq }, "absent");
    expect(requests.claimedNotBefore(mine)).toBeUndefined();
    expect(requests.claimedNotBefore({ ...mine, renewSeq: 2 })).toBeDefined();
  });

  test("a claim has the fence that it was made with, above the clock and all that was seen", async () => {
    expect(requests.fenceAbove).toBe(Math.floor(clock.wallMs()));
    const claim = await requests.claim(mine, "absent");
    expect(claim).toMatchObject({ answer: { fence: 4 } });
    expect(await requests.claim(mine, "absent")).toBe("conflict");
    memory.keepReleased(ID, { ...free, fence: 9e15 }, "v" as never);
    expect(requests.fenceAbove).toBe(9e15);
  });

  test("what is left of us is dead for everybody after a lease and its margin, and as long was spent on taking it away", async () => {
    const triedMs = clock.monotonicMs();
    await requests.write(mine, "absent");
    await clock.advance(32_000);
    expect(requests.isTakenForDead(triedMs)).toBe(false);
    await clock.advance(1);
    expect(requests.isTakenForDead(triedMs)).toBe(true);
    expect(requests.isTakenForDead(triedMs + 1)).toBe(false);
    const seen = await requests.read();
    await requests.write({ ...free, waitingOwnerId: "me" }, seen!.version);
    expect(requests.isTakenForDead(triedMs)).toBe(false);
    await clock.advance(32_001);
    expect(requests.isTakenForDead(triedMs)).toBe(true);
  });

  test("the age of what was read is the store's to say, and nothing where it is not there any more", async () => {
    await records.write(ID, mine, "absent");
    const seen = (await requests.read())!;
    await clock.advance(3_000);
    const learned = await requests.learnAge(seen);
    expect(learned).toMatchObject({ isAgeUnknown: false });
    await records.remove(ID, seen.version);
    expect(await requests.learnAge(seen)).toBeNull();
  });
});

describe("what people are told of a lease", () => {
  const inspector = () =>
    new LeaseLockInspector({
      records: Object.assign(records, {
        async *resourceIds() {
          yield permitsRecordOf(ID);
        },
      }),
      where: (id) => `memory ${id}`,
      now: () => new Date(0),
      audit: async () => {},
    });

  test("a record of permits says how many there are, and is not swept away", async () => {
    const permits = new LeasePermits((id) => new TenureRequests(id, "me", requests.surroundings));
    expect(await permits.replace(ID, null, 3, () => true)).toBe(true);
    const [shown, ...others] = await inspector().list();
    expect([shown, others]).toEqual([
      {
        resourceId: permitsRecordOf(ID),
        state: "free",
        where: `memory ${permitsRecordOf(ID)}`,
        remark: "says that the semaphore has 3 permits",
      },
      [],
    ]);
    await clock.advance(86_400_000);
    expect(await inspector().sweep(0)).toEqual([]);
    await records.write(permitsRecordOf("b"), free, "absent");
    await expect(permits.read("b")).rejects.toThrow(
      `${permitsRecordOf("b")} is not a lease record (it has no number of permits), and counts as held`,
    );
  });

  test("a lock that is kept for its next waiter is told so, and one that is asked for twice by its own name", async () => {
    const world = new LeaseWorld();
    const lock = world.process("a").locks.handoffLock(ID);
    await lock.acquire({ timeout: 0 });
    await expect(lock.acquire({ timeout: 0 })).rejects.toMatchObject({
      code: "lock_reentrancy",
      heldResourceIds: [ID],
    });
    await world.amend(ID, { waitingOwnerId: "x:1:t", waiterExpiresAt: 1 });
    await lock.release();
    const refused = world.process("b").locks.handoffLock(ID).acquire({ timeout: 0 });
    await expect(refused).rejects.toMatchObject({
      code: "lock_contended",
      waitingOwnerId: "x:1:t",
      holder: { ownerId: "x:1:t", purpose: "next in line" },
    });
    await world.close();
  });
});
