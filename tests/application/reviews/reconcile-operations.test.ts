import { openOperationOf } from "../../../src/domain/payment/payment";
import { ReconcileOperations } from "../../../src/application/use-cases/reconcile-operations";
import { StoreUnavailableError } from "../../../src/application/ports/payment-repository";
import { paymentResourceId, type PaymentId } from "../../../src/domain/identifiers";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { Gate } from "../../support/fakes/gate";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

/** Payments whose capture nobody knows the outcome of. */
async function unknownCaptures(world: PaymentsWorld, count: number): Promise<PaymentId[]> {
  const ids: PaymentId[] = [];
  for (let made = 0; made < count; made += 1) {
    const id = await world.authorize("tok_timeout_captured");
    await world.capture(id, "k");
    ids.push(id);
  }
  return ids;
}

describe("a reconciling pass", () => {
  test("a reconciling pass leaves alone what is not due yet", async () => {
    const world = new PaymentsWorld();
    const [id] = await unknownCaptures(world, 1);
    world.clock.advance(4_999);
    expect(await world.reconcile()).toEqual({ done: 0, skipped: 0, failed: 0 });
    world.clock.advance(1);
    expect(await world.reconcile()).toEqual({ done: 1, skipped: 0, failed: 0 });
    expect((await world.payment(id!)).facts.status).toBe("captured");
  });

  test("a reconciling pass comes to all that is due, however many pages that fills", async () => {
    const world = new PaymentsWorld();
    const ids = await unknownCaptures(world, 250);
    world.clock.advance(5_000);
    expect(await world.reconcile()).toEqual({ done: 250, skipped: 0, failed: 0 });
    for (const id of ids) expect(await world.timesCaptured(id)).toBe(1);
    expect(await world.reconcile()).toEqual({ done: 0, skipped: 0, failed: 0 });
  });

  test("a reconciling pass passes by whoever is inside, and does not wait for them", async () => {
    const locks = new MemoryLockProvider();
    const world = new PaymentsWorld({ locks });
    const [busy] = await unknownCaptures(world, 2);
    world.clock.advance(5_000);
    const leaving = new Gate();
    const holder = locks.withLock(paymentResourceId(busy!), () => leaving.passed);
    expect(await world.reconcile()).toEqual({ done: 1, skipped: 1, failed: 0 });
    leaving.open();
    await holder;
    expect(await world.reconcile()).toEqual({ done: 1, skipped: 0, failed: 0 });
  });

  test("a reconciling pass goes on past a payment that fails, says which, and comes back to it", async () => {
    const payments = new InMemoryPaymentRepository();
    const world = new PaymentsWorld({ payments });
    const [broken] = await unknownCaptures(world, 3);
    world.clock.advance(5_000);
    let down = true;
    Object.assign(world.context, {
      payments: new Proxy(payments, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name, target);
          if (name !== "find")
            return typeof member === "function" ? (member.bind(target) as unknown) : member;
          return async (id: PaymentId) => {
            if (down && id === broken) throw new StoreUnavailableError("one bad page");
            return target.find(id);
          };
        },
      }),
    });
    const told: PaymentId[] = [];
    const pass = () =>
      new ReconcileOperations(world.locks, world.context, (_error, id) => told.push(id)).execute();
    expect(await pass()).toEqual({ done: 2, skipped: 0, failed: 1 });
    expect(told).toEqual([broken]);
    down = false;
    expect(await pass()).toEqual({ done: 1, skipped: 0, failed: 0 });
  });

  test("a reconciling pass ends when it is told to, and leaves the rest due", async () => {
    const world = new PaymentsWorld();
    await unknownCaptures(world, 120);
    world.clock.advance(5_000);
    const stop = new AbortController();
    world.gateway.next("find", async (real) => {
      stop.abort();
      return real();
    });
    const pass = new ReconcileOperations(world.locks, world.context, () => undefined);
    const { done } = await pass.execute(stop.signal);
    expect(done).toBeLessThanOrEqual(8);
    expect(await pass.execute()).toEqual({ done: 120 - done, skipped: 0, failed: 0 });
  });

  test("a reconciling pass finishes an intent whose sender has been silent since, and the sender then says the same", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize();
    const sending = new Gate();
    const goingOn = new Gate();
    world.gateway.next("capture", async (real) => {
      sending.open();
      await goingOn.passed;
      return real();
    });
    const sender = codeOf(world.capture(id, "k"));
    await sending.passed;
    world.clock.advance(5_100);
    expect(await world.reconcile()).toMatchObject({ done: 1 });
    expect((await world.payment(id)).facts.status).toBe("captured");
    goingOn.open();
    expect(await sender).toBe("succeeded");
    expect(await world.timesCaptured(id)).toBe(1);
  });

  test("a reconciling pass moves the money of one payment once, however many passes are at it without a lock", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_timeout_not_captured");
    await world.capture(id, "k");
    world.clock.advance(5_000);
    await Promise.all(Array.from({ length: 10 }, () => world.reconcile()));
    expect(world.errors).toEqual([]);
    expect(await world.timesCaptured(id)).toBe(1);
    expect((await world.payment(id)).facts.status).toBe("captured");
  });

  test("a reconciling pass makes no attempt more than it was due, however long it was away", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_error_500_stored");
    await world.capture(id, "k");
    world.clock.advance(30 * 24 * 3_600_000);
    await world.reconcile();
    expect(openOperationOf(await world.payment(id))).toMatchObject({ status: "unknown", attempts: 1 });
    expect(await world.reconcile()).toEqual({ done: 0, skipped: 0, failed: 0 });
  });
});
