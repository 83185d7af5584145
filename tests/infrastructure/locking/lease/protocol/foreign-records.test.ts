import { LockTimeoutError, LockUnavailableError } from "../../../../../src/application/ports/lock-errors";
import { LeaseWorld, type LeaseProcess } from "../../../../support/worlds/lease-world";

const id = "sandbox:1";

let world: LeaseWorld;
let a: LeaseProcess;

beforeEach(() => {
  world = new LeaseWorld();
  a = world.process("a");
});

afterEach(() => world.close());

/** As another implementation writes it: four fields, and an end by its own wall clock. */
const foreign = (change: object = {}): string =>
  JSON.stringify({
    ownerId: "pod-1",
    expiresAt: world.clock.wallMs() / 1000 + 30,
    waitingOwnerId: null,
    waiterExpiresAt: null,
    ...change,
  });

const attempt = (): Promise<string> => a.locks.withLock(id, () => Promise.resolve("in"), { timeout: 0 });

describe("a record of another implementation", () => {
  test("a record of another implementation keeps everybody out as long as it is renewed", async () => {
    for (let round = 0; round < 10; round += 1) {
      world.records.putText(id, foreign());
      await expect(attempt()).rejects.toBeInstanceOf(LockTimeoutError);
      await world.clock.advance(20_000);
    }
  });

  test("a record of another implementation is dead when it stood still for a minute and its end has passed by the store's clock, whatever ours says", async () => {
    world.records.putText(id, foreign());
    a.wallSkewMs = 3_600_000;
    await expect(attempt()).rejects.toBeInstanceOf(LockTimeoutError);
    await world.clock.advance(59_900);
    await expect(attempt()).rejects.toBeInstanceOf(LockTimeoutError);
    await world.clock.advance(200);
    expect(await attempt()).toBe("in");
  });

  test("a record of another implementation is not dead while its end is still to come, however long it stands still", async () => {
    world.records.putText(id, foreign({ expiresAt: world.clock.wallMs() / 1000 + 300 }));
    await expect(attempt()).rejects.toBeInstanceOf(LockTimeoutError);
    await world.clock.advance(299_900);
    await expect(attempt()).rejects.toBeInstanceOf(LockTimeoutError);
    await world.clock.advance(200);
    expect(await attempt()).toBe("in");
  });

  test("a record of another implementation gets a waiter of ours in its own four fields, and stays foreign", async () => {
    world.records.putText(id, foreign());
    const waiting = a.locks.withLock(id, () => Promise.resolve("in"), { timeout: "infinite" });
    await world.clock.advance(100);
    expect(JSON.parse(world.records.getText(id) ?? "")).toEqual({
      ownerId: "pod-1",
      expiresAt: world.clock.wallMs() / 1000 + 29.9,
      waitingOwnerId: "a:1:t1",
      waiterExpiresAt: world.clock.wallMs() / 1000 + 29.9,
    });
    world.records.putText(id, foreign({ ownerId: null, expiresAt: 0, waitingOwnerId: "a:1:t1" }));
    await world.clock.advance(1_000);
    expect(await waiting).toBe("in");
  });

  test("a record of another implementation does not live longer because we wait for it", async () => {
    world.records.putText(id, foreign());
    const waiting = a.locks.withLock(id, () => Promise.resolve("in"), { timeout: "infinite" });
    // A minute of silence, and the longest pause between two looks.
    await world.clock.advance(63_100);
    expect(await waiting).toBe("in");
  });

  test("a record of another implementation is free without an owner, and its deletion is a release", async () => {
    world.records.putText(id, foreign({ ownerId: null }));
    expect(await attempt()).toBe("in");
    const version = world.records.putText(id, foreign());
    await expect(attempt()).rejects.toBeInstanceOf(LockTimeoutError);
    await world.records.remove(id, version);
    expect(await attempt()).toBe("in");
  });

  test("a record of another implementation that a foreign waiter made of ours still names us: we stay the owner, and restore our own fields", async () => {
    const owner = await world.occupy(a, id);
    const { ownerId, expiresAt } = world.stored(id) ?? {};
    world.records.putText(id, foreign({ ownerId, expiresAt, waitingOwnerId: "pod-2", waiterExpiresAt: 1 }));
    await world.clock.advance(10_001);
    owner.hold.assertHeld();
    expect(world.stored(id)).toMatchObject({
      ownerId,
      waitingOwnerId: "pod-2",
      fence: Number(owner.hold.fencingToken),
    });
    await owner.leave();
  });
});

test("an inexact record of a peer keeps others out as long as its ttl, and not for good", async () => {
  const inexact = {
    ownerId: "py-1:7:x",
    expiresAt: null,
    ttlMs: 30_000,
    renewSeq: 0,
    fence: 7,
    ownerAgeMs: 250.5,
  };
  world.records.putText(id, JSON.stringify(inexact));
  await expect(attempt()).rejects.toBeInstanceOf(LockTimeoutError);
  await world.clock.advance(31_700);
  await expect(attempt()).rejects.toBeInstanceOf(LockTimeoutError);
  await world.clock.advance(100);
  expect(await attempt()).toBe("in");
});

describe("something that is no lease record", () => {
  test.each(["hello", "", '{"rows":[1,2,3]}'])(
    "(%p) keeps everybody out, and is never overwritten",
    async (text) => {
      world.records.putText(id, text);
      await expect(attempt()).rejects.toBeInstanceOf(LockUnavailableError);
      const patient = a.locks.withLock(id, () => Promise.resolve("in"), { timeout: 60_000 });
      await expect(patient).rejects.toThrow(/is not a lease record/);
      await expect(patient).rejects.toMatchObject({ permanent: true });
      expect(world.records.getText(id)).toBe(text);
    },
  );

  test("something that is no lease record put in the place of an owner's record ends the tenure, and is left alone by the release", async () => {
    const owner = await world.occupy(a, id);
    world.records.putText(id, "hello");
    await world.clock.advance(10_001);
    expect(owner.hold.signal.aborted).toBe(true);
    await owner.leave();
    expect(world.records.getText(id)).toBe("hello");
  });
});
