import type { LockHold, LockProvider } from "../../../src/application/ports/lock-provider";
import type { PaymentId } from "../../../src/domain/identifiers";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

const HOUR = 3_600_000;

class CountingRepository extends InMemoryPaymentRepository {
  finds = 0;
  saves = 0;

  override find(id: PaymentId) {
    this.finds += 1;
    return super.find(id);
  }

  override save(...args: Parameters<InMemoryPaymentRepository["save"]>) {
    this.saves += 1;
    return super.save(...args);
  }
}

/** Somebody else has had the lock between the first look and the turn; `hold` changes what the caller is told of it. */
class InBetween implements LockProvider {
  private readonly real = new NoOpLockProvider();
  private meanwhile: (() => Promise<unknown>) | undefined;

  constructor(private readonly waitedFor: Pick<LockHold, "waitedFor"> = {}) {}

  before(meanwhile: () => Promise<unknown>): void {
    this.meanwhile = meanwhile;
  }

  readonly withLock: LockProvider["withLock"] = async (id, section, options) => {
    const meanwhile = this.meanwhile;
    this.meanwhile = undefined;
    await meanwhile?.();
    return this.real.withLock(id, (hold) => section(Object.assign(hold, this.waitedFor)), options);
  };
}

function worldWith(locks: LockProvider) {
  const payments = new CountingRepository();
  return { world: new PaymentsWorld({ locks, payments }), payments };
}

describe("a movement that waited for nobody", () => {
  it("reads the payment once", async () => {
    const { world, payments } = worldWith(new NoOpLockProvider());
    const id = await world.authorize();
    payments.finds = 0;
    await world.capture(id, "k");
    expect(payments.finds).toBe(1);
  });

  it("looks again where the wait was for a holder, who has most likely written", async () => {
    const { world, payments } = worldWith(new InBetween({ waitedFor: { since: new Date(0) } }));
    const id = await world.authorize();
    payments.finds = 0;
    await world.capture(id, "k");
    expect(payments.finds).toBe(2);
  });

  it("gives the stored answer where a request with its key was inside meanwhile", async () => {
    const locks = new InBetween();
    const { world } = worldWith(locks);
    const id = await world.authorize();
    locks.before(() => world.capture(id, "k"));
    const { operation } = await world.capture(id, "k");
    expect(operation.status).toBe("succeeded");
    expect(await world.timesCaptured(id)).toBe(1);
    expect((await world.payment(id)).facts.operations.map(({ kind }) => kind)).toEqual([
      "authorize",
      "capture",
    ]);
  });

  it.each([
    ["a capture with another key", (world: PaymentsWorld, id: PaymentId) => world.capture(id, "other")],
    ["a void", (world: PaymentsWorld, id: PaymentId) => world.void(id, "other")],
  ])("is refused where %s was inside meanwhile", async (_, other) => {
    const locks = new InBetween();
    const { world } = worldWith(locks);
    const id = await world.authorize();
    locks.before(() => other(world, id));
    expect(await codeOf(world.capture(id, "k"))).toMatch(/^payment_(already_captured|not_capturable)$/);
    expect((await world.timesCaptured(id)) + (await world.timesMoved(id, "void"))).toBe(1);
  });

  it("writes nothing by what it saw first but an intent: a refusal is decided by a look inside", async () => {
    const locks = new InBetween();
    const { world, payments } = worldWith(locks);
    const id = await world.authorize();
    world.clock.advance(2 * HOUR);
    payments.finds = 0;
    expect(await codeOf(world.capture(id, "k"))).toBe("payment_expired");
    expect(payments.finds).toBe(2);
  });

  it("decides by the time inside the lock", async () => {
    const locks = new InBetween();
    const { world } = worldWith(locks);
    const id = await world.authorize();
    locks.before(async () => world.clock.advance(2 * HOUR));
    expect(await codeOf(world.capture(id, "k"))).toBe("payment_expired");
    expect(await world.timesCaptured(id)).toBe(0);
  });
});
