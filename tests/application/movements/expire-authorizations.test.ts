import { visibleStatus, openOperationOf } from "../../../src/domain/payment/payment";
import { EXPIRY_GRACE_MS } from "../../../src/application/use-cases/expire-authorizations";
import { paymentResourceId } from "../../../src/domain/identifiers";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { Gate } from "../../support/fakes/gate";
import { codeOf, PaymentsWorld, type WorldParts } from "../../support/worlds/payments-world";

const MINUTE = 60_000;
const nothing = { done: 0, skipped: 0, failed: 0 };

async function movesOf(world: PaymentsWorld, id: Awaited<ReturnType<PaymentsWorld["authorize"]>>) {
  return (await world.simulated.moves(id)).map(
    ({ kind, gatewayKey }) => `${kind} ${gatewayKey.split(".")[1]}`,
  );
}

describe("an expiring pass", () => {
  test("an expiring pass lets an authorization be for five minutes after its end, then lets go of it and of the money at once", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_ok", 1_000n, 60);
    world.clock.advance(MINUTE + EXPIRY_GRACE_MS - 1);
    expect(await world.expire()).toEqual(nothing);
    world.clock.advance(1);
    expect(await world.expire()).toEqual({ done: 1, skipped: 0, failed: 0 });
    expect((await world.payment(id)).facts.status).toBe("expired");
    expect(openOperationOf(await world.payment(id))).toBeUndefined();
    expect(await movesOf(world, id)).toEqual(["authorize 1", "void 1"]);
    expect(await world.eventTypes(id)).toEqual([
      "authorize.started",
      "authorize.succeeded",
      "payment.authorized",
      "payment.expired",
      "void.started",
      "void.resent",
      "void.succeeded",
    ]);
    expect(await world.expire()).toEqual(nothing);
    expect(await codeOf(world.capture(id, "k"))).toBe("payment_expired");
  });

  test("an expiring pass comes to all that has lapsed, however many pages that fills", async () => {
    const world = new PaymentsWorld();
    for (let made = 0; made < 250; made += 1) await world.authorize("tok_ok", 1n, 60);
    world.clock.advance(MINUTE + EXPIRY_GRACE_MS);
    expect(await world.expire()).toEqual({ done: 250, skipped: 0, failed: 0 });
  });

  test("touches nothing that was captured in time", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_ok", 1_000n, 60);
    await world.capture(id, "k");
    world.clock.advance(24 * 60 * MINUTE);
    expect(await world.expire()).toEqual(nothing);
    expect((await world.payment(id)).facts.status).toBe("captured");
  });

  test("an expiring pass waits for an open capture: its outcome decides what the payment becomes", async () => {
    const world = new PaymentsWorld();
    const captured = await world.authorize("tok_timeout_captured", 1_000n, 60);
    const declined = await world.authorize("tok_error_500", 1_000n, 60);
    await world.capture(captured, "k");
    await world.capture(declined, "k");
    world.clock.advance(MINUTE + EXPIRY_GRACE_MS);
    expect(await world.expire()).toEqual(nothing);
    world.gateway.next("capture", async () => ({ outcome: "declined", reason: "no" }));
    await world.reconcile();
    expect((await world.payment(captured)).facts.status).toBe("captured");
    expect((await world.payment(declined)).facts.status).toBe("authorized");
    expect(await world.expire()).toEqual({ done: 1, skipped: 0, failed: 0 });
    expect((await world.payment(declined)).facts.status).toBe("expired");
  });

  test("an expiring pass keeps off a capture that a slower clock let begin after the pass had looked", async () => {
    class Interrupted extends InMemoryPaymentRepository {
      afterLooking: () => Promise<unknown> = async () => undefined;
      override async lapsedAuthorizations(
        ...query: Parameters<InMemoryPaymentRepository["lapsedAuthorizations"]>
      ) {
        const found = await super.lapsedAuthorizations(...query);
        await this.afterLooking();
        return found;
      }
    }
    const payments = new Interrupted();
    const slow = new PaymentsWorld({ payments });
    const id = await slow.authorize("tok_timeout_captured", 1_000n, 60);
    const world = new PaymentsWorld({ payments });
    world.clock.advance(MINUTE + EXPIRY_GRACE_MS);
    payments.afterLooking = () => slow.capture(id, "k");
    expect(await world.expire()).toEqual(nothing);
    expect(world.errors).toEqual([]);
    expect(visibleStatus(await world.payment(id))).toBe("capturing");
  });

  test("an expiring pass passes by whoever is inside", async () => {
    const locks = new MemoryLockProvider();
    const world = new PaymentsWorld({ locks });
    const id = await world.authorize("tok_ok", 1_000n, 60);
    world.clock.advance(MINUTE + EXPIRY_GRACE_MS);
    const leaving = new Gate();
    const holder = locks.withLock(paymentResourceId(id), () => leaving.passed);
    expect(await world.expire()).toEqual({ done: 0, skipped: 1, failed: 0 });
    leaving.open();
    await holder;
    expect(await world.expire()).toEqual({ done: 1, skipped: 0, failed: 0 });
  });

  test("an expiring pass that runs in two places at once releases the money once", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_ok", 1_000n, 60);
    world.clock.advance(MINUTE + EXPIRY_GRACE_MS);
    const [one, other] = await Promise.all([world.expire(), world.expire()]);
    expect(one.done + other.done).toBeGreaterThanOrEqual(1);
    world.clock.advance(MINUTE);
    await world.reconcile();
    expect(openOperationOf(await world.payment(id))).toBeUndefined();
    expect(await movesOf(world, id)).toEqual(["authorize 1", "void 1"]);
  });
});

describe("the release of an expired payment's money", () => {
  async function expired(token: string, parts: WorldParts = {}) {
    const world = new PaymentsWorld(parts);
    const id = await world.authorize(token, 1_000n, 60);
    world.clock.advance(MINUTE + EXPIRY_GRACE_MS);
    await world.expire();
    return { world, id };
  }

  test("the release of an expired payment's money goes on with a new gateway key after a recorded refusal", async () => {
    const { world, id } = await expired("tok_void_decline");
    expect((await world.payment(id)).facts.status).toBe("expired");
    expect(openOperationOf(await world.payment(id))).toMatchObject({ kind: "void", n: 2, firstSentAt: null });
    expect(await world.eventTypes(id)).toContain("void.failed");
    world.clock.advance(5_000);
    expect(await world.reconcile()).toEqual({ done: 1, skipped: 0, failed: 0 });
    expect(openOperationOf(await world.payment(id))).toBeUndefined();
    expect(await movesOf(world, id)).toEqual(["authorize 1", "void 2"]);
  });

  test.each(["tok_void_timeout_captured", "tok_void_timeout_not_captured", "tok_void_unreachable"])(
    "the release of an expired payment's money goes on with the same key after %s",
    async (token) => {
      const { world, id } = await expired(token, { withoutPictures: true });
      expect(openOperationOf(await world.payment(id))).toMatchObject({
        kind: "void",
        n: 1,
        status: "unknown",
      });
      world.clock.advance(5_000);
      await world.reconcile();
      expect(openOperationOf(await world.payment(id))).toBeUndefined();
      expect(await movesOf(world, id)).toEqual(["authorize 1", "void 1"]);
    },
  );

  test("the release of an expired payment's money is done when the gateway has let the authorization go by itself", async () => {
    const { world, id } = await expired("tok_void_authorization_gone");
    expect(openOperationOf(await world.payment(id))).toBeUndefined();
    expect((await world.payment(id)).facts.status).toBe("expired");
  });

  test("the release of an expired payment's money goes to a person after twelve attempts in vain", async () => {
    const { world, id } = await expired("tok_void_error_500_stored");
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const { status, dueAt } = openOperationOf(await world.payment(id)) ?? {};
      expect(status).toBe("unknown");
      world.clock.advance((dueAt?.getTime() ?? NaN) - world.clock.now().getTime());
      await world.reconcile();
    }
    expect(openOperationOf(await world.payment(id))).toMatchObject({ kind: "void", status: "needs_review" });
    expect(await world.context.payments.countInReview()).toBe(1);
  });

  test("the release of an expired payment's money does not keep anybody waiting: the payment is answered as expired meanwhile", async () => {
    const { world, id } = await expired("tok_void_error_500_stored");
    expect(await codeOf(world.capture(id, "k"))).toBe("payment_expired");
    expect(visibleStatus(await world.payment(id))).toBe("expired");
  });
});
