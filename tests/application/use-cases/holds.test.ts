import { LockLostError } from "../../../src/application/ports/lock-errors";
import type { LockHold, LockOptions, LockProvider } from "../../../src/application/ports/lock-provider";
import { openOperationOf } from "../../../src/domain/payment/payment";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { PaymentsWorld } from "../../support/worlds/payments-world";

const unknown = { outcome: "unknown", reason: "timeout" } as const;
const HOUR = 3_600_000;

/** Tells what locks are taken for, and can lose each of them just as its section begins. */
class WatchedLocks implements LockProvider {
  readonly purposes: (string | undefined)[] = [];
  loses = false;
  /** Somebody is faster: done once, before the next section begins. */
  before: (() => Promise<unknown>) | undefined;
  private readonly locks = new NoOpLockProvider();

  async withLock<T>(
    resourceId: string,
    section: (hold: LockHold) => T | PromiseLike<T>,
    options: LockOptions = {},
  ): Promise<T> {
    this.purposes.push(options.purpose);
    const { before } = this;
    this.before = undefined;
    await before?.();
    if (!this.loses) return this.locks.withLock(resourceId, section, options);
    return this.locks.withLock(resourceId, (hold) => section(lost(hold)), options);
  }
}

function lost(hold: LockHold): LockHold {
  const { resourceId, fencingToken, waitedMs, signal } = hold;
  const assertHeld = () => {
    throw new LockLostError(resourceId, "somebody else has it");
  };
  return { resourceId, fencingToken, waitedMs, signal, assertHeld, aloneForMs: () => 0 };
}

let locks: WatchedLocks;
let world: PaymentsWorld;
beforeEach(() => {
  locks = new WatchedLocks();
  world = new PaymentsWorld({ locks });
});

const openCapture = async () => {
  const id = await world.authorize();
  world.gateway.next("capture", async (real) => {
    await real();
    return unknown;
  });
  await world.capture(id, "k");
  return id;
};

const inReview = async () => {
  const id = await openCapture();
  world.gateway.answersQuestions({ outcome: "mismatch", evidence: "another amount" });
  world.clock.advance(10_000);
  await world.reconcile();
  world.gateway.answersQuestions(null);
  return { id, operation: openOperationOf(await world.payment(id))!.id };
};

test("whoever looks at a lock is told what it is held for", async () => {
  const { operation } = await inReview();
  await world.review(operation, { overrideReason: "seen in the dashboard" });
  await world.observe(await openCapture());
  const other = await world.authorize("tok_ok", 1_000n, 60);
  world.clock.advance(HOUR);
  await world.expire();
  expect((await world.payment(other)).facts.status).toBe("expired");
  const told = new Set(locks.purposes);
  for (const purpose of ["authorize", "capture", "observe", "review", "expire"])
    expect(told).toContain(purpose);
  expect(told).not.toContain("");
});

describe("who has lost the lock writes nothing any more", () => {
  test("of a payment that is begun", async () => {
    locks.loses = true;
    await expect(world.authorize()).rejects.toThrow(LockLostError);
    expect(world.gateway.calls).toEqual([]);
    locks.loses = false;
    expect((await world.context.payments.list({ merchant: world.merchant, limit: 1 })).data).toEqual([]);
  });

  test("of what was seen at the gateway", async () => {
    const id = await openCapture();
    const before = await world.context.payments.find(id);
    locks.loses = true;
    await expect(world.observe(id)).rejects.toThrow(LockLostError);
    expect(await world.context.payments.find(id)).toEqual(before);
  });

  test("of a verdict", async () => {
    const { id, operation } = await inReview();
    const before = await world.context.payments.find(id);
    locks.loses = true;
    await expect(world.review(operation)).rejects.toThrow(LockLostError);
    expect(await world.context.payments.find(id)).toEqual(before);
  });

  test("of an authorization that has lapsed", async () => {
    const id = await world.authorize("tok_ok", 1_000n, 60);
    const before = await world.context.payments.find(id);
    world.clock.advance(HOUR);
    locks.loses = true;
    expect(await world.expire()).toMatchObject({ done: 0, failed: 1 });
    expect(await world.context.payments.find(id)).toEqual(before);
  });
});

describe("a pass leaves alone what has changed since it was listed", () => {
  test("an authorization that was captured just in time is not expired", async () => {
    const id = await world.authorize("tok_ok", 1_000n, 60);
    world.clock.advance(HOUR);
    locks.before = async () => {
      // On a machine whose clock is behind.
      world.clock.advance(-HOUR);
      await world.capture(id, "k");
      world.clock.advance(HOUR);
    };
    expect(await world.expire()).toMatchObject({ done: 0, failed: 0 });
    expect((await world.payment(id)).facts.status).toBe("captured");
    expect(await world.timesMoved(id, "void")).toBe(0);
  });

  test("an operation that was settled by somebody else is not asked about again", async () => {
    const id = await openCapture();
    world.clock.advance(10_000);
    let callsBefore: readonly string[] = [];
    locks.before = async () => {
      await world.observe(id);
      callsBefore = [...world.gateway.calls];
    };
    expect(await world.reconcile()).toMatchObject({ done: 0, failed: 0 });
    expect(openOperationOf(await world.payment(id))).toBeUndefined();
    expect(world.gateway.calls).toEqual(callsBefore);
  });
});

test("what the sweeper ended has the sweeper as its author", async () => {
  const id = await world.authorize("tok_ok", 1_000n, 60);
  world.clock.advance(HOUR);
  await world.expire();
  const events = (await world.context.payments.events(id)) ?? [];
  const ended = events.filter(({ type }) =>
    ["payment.expired", "void.started", "void.succeeded"].includes(type),
  );
  expect(ended.map(({ data }) => data["by"])).toEqual(Array(3).fill({ sweeper: true }));
});
