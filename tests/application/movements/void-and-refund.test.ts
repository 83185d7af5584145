import { figuresOf } from "../../support/worlds/payments";
import { amountRefunded, openOperationOf, visibleStatus } from "../../../src/domain/payment/payment";
import { LockLostError, LockUnavailableError } from "../../../src/application/ports/lock-errors";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import {
  StoreUnavailableError,
  VersionConflictError,
} from "../../../src/application/ports/payment-repository";
import {
  parseMerchantId,
  parsePaymentId,
  paymentResourceId,
  type PaymentId,
} from "../../../src/domain/identifiers";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { Gate } from "../../support/fakes/gate";
import { codeOf, PaymentsWorld, type WorldParts } from "../../support/worlds/payments-world";

/** All that differs between the two in the rows that they share with a capture. */
interface MovementUnderTest {
  readonly kind: "void" | "refund";
  /** A payment that the movement can begin on; the token acts on the movement. */
  readonly ready: (world: PaymentsWorld, behaviour?: string) => Promise<PaymentId>;
  /** What another key gets once it has succeeded. */
  readonly thenRefused: string;
  readonly status: string;
}

const movements: readonly MovementUnderTest[] = [
  {
    kind: "void",
    ready: (world, behaviour = "ok") => world.authorize(`tok_void_${behaviour}`),
    thenRefused: "payment_not_voidable",
    status: "voided",
  },
  {
    kind: "refund",
    ready: (world, behaviour = "ok") => world.captured(`tok_refund_${behaviour}`),
    thenRefused: "amount_exceeds_captured",
    status: "captured",
  },
];

class InterruptedRepository extends InMemoryPaymentRepository {
  saves = 0;
  beforeSave: (save: number) => Promise<void> = async () => {};

  override async save(...[payment, version]: Parameters<InMemoryPaymentRepository["save"]>) {
    this.saves += 1;
    await this.beforeSave(this.saves);
    return super.save(payment, version);
  }
}

/** A provider that loses its hold at the given look at it, during that movement. */
function losesLockAt(call: number, purpose: string): LockProvider {
  const real = new NoOpLockProvider();
  return {
    withLock: (id, section, options) =>
      real.withLock(
        id,
        (hold) => {
          let calls = 0;
          const losing = Object.create(hold) as typeof hold;
          losing.assertHeld = () => {
            calls += 1;
            if (calls === call && options?.purpose === purpose)
              throw new LockLostError(id, "its lease ended");
          };
          return section(losing);
        },
        options,
      ),
  };
}

describe.each(movements)("a $kind", ({ kind, ready, thenRefused, status }) => {
  const go = (world: PaymentsWorld, id: PaymentId, key: string, caller = {}) =>
    kind === "void" ? world.void(id, key, caller) : world.refund(id, key, {}, caller);
  /** The world with what the movement needs, on other parts from then on. */
  const continued = (world: PaymentsWorld, parts: WorldParts) => {
    const next = new PaymentsWorld({ payments: world.context.payments, ...parts });
    Object.assign(next.context, { gateway: world.gateway });
    return next;
  };

  test("a movement moves the money once and says so", async () => {
    const world = new PaymentsWorld();
    const id = await ready(world);
    const { operation, payment, replayed } = await go(world, id, "k");
    expect(operation).toMatchObject({ kind, status: "succeeded", amount: 1_000n });
    expect({ status: visibleStatus(payment), replayed }).toEqual({ status, replayed: false });
    expect(await world.timesMoved(id, kind)).toBe(1);
  });

  test("a movement with the same key again gets the first answer", async () => {
    const world = new PaymentsWorld();
    const id = await ready(world);
    const first = await go(world, id, "k");
    const calls = world.gateway.calls.length;
    const again = await go(world, id, "k");
    expect(again).toMatchObject({ replayed: true, operation: first.operation });
    expect(again.payment.facts).toEqual(first.payment.facts);
    expect(world.gateway.calls).toHaveLength(calls);
  });

  test("a movement with another key, once it is done, is refused", async () => {
    const world = new PaymentsWorld();
    const id = await ready(world);
    await go(world, id, "k");
    expect(await codeOf(go(world, id, "other"))).toBe(thenRefused);
    expect(await world.timesMoved(id, kind)).toBe(1);
  });

  test("a movement has keys of its own: those of the payment's other movements do not count", async () => {
    const world = new PaymentsWorld();
    const id = await ready(world);
    expect(await codeOf(go(world, id, "captured"))).toBe("succeeded");
  });

  test("a movement of an unknown payment, or of another merchant's, finds none and touches no lock", async () => {
    const untouchable: LockProvider = { withLock: () => Promise.reject(new Error("the lock was touched")) };
    const open = new PaymentsWorld();
    const id = await ready(open);
    const world = continued(open, { locks: untouchable });
    const unknown = parsePaymentId(world.context.ids.nextId());
    expect(await codeOf(go(world, unknown, "k"))).toBe("payment_not_found");
    expect(await codeOf(go(world, id, "k", { merchant: parseMerchantId("stranger") }))).toBe(
      "payment_not_found",
    );
  });

  test("a movement that has to wait too long for the lock is told so, and whether its own key is at work", async () => {
    const world = new PaymentsWorld({ locks: new MemoryLockProvider() });
    const id = await ready(world);
    const sending = new Gate();
    const answering = new Gate();
    world.gateway.next(kind, async (real) => {
      sending.open();
      await answering.passed;
      return real();
    });
    const first = codeOf(go(world, id, "k"));
    await sending.passed;
    expect(await codeOf(go(world, id, "k", { lockTimeout: 0 }))).toBe("idempotency_key_in_use");
    expect(await codeOf(go(world, id, "other", { lockTimeout: 0 }))).toBe("lock_timeout");
    answering.open();
    expect(await first).toBe("succeeded");
  });

  test("a movement whose caller hangs up while waiting leaves the line, and nothing happens", async () => {
    const locks = new MemoryLockProvider();
    const world = new PaymentsWorld({ locks });
    const id = await ready(world);
    const leaving = new Gate();
    const holder = locks.withLock(paymentResourceId(id), () => leaving.passed);
    const caller = new AbortController();
    const waiting = codeOf(go(world, id, "k", { signal: caller.signal }));
    caller.abort();
    expect(await waiting).toBe("wait_cancelled");
    leaving.open();
    await holder;
    expect(await world.timesMoved(id, kind)).toBe(0);
  });

  test("a movement without a lock backend does nothing", async () => {
    const open = new PaymentsWorld();
    const id = await ready(open);
    const down: LockProvider = {
      withLock: (resource) => Promise.reject(new LockUnavailableError(resource, "down")),
    };
    expect(await codeOf(go(continued(open, { locks: down }), id, "k"))).toBe("lock_unavailable");
  });

  test("a movement whose lock is lost before the intent writes nothing, before the send sends nothing", async () => {
    const open = new PaymentsWorld();
    const id = await ready(open);
    const before = (await open.payment(id)).facts.operations.length;
    expect(await codeOf(go(continued(open, { locks: losesLockAt(1, kind) }), id, "k"))).toBe("lock_lost");
    expect((await open.payment(id)).facts.operations).toHaveLength(before);
    expect(await codeOf(go(continued(open, { locks: losesLockAt(2, kind) }), id, "k"))).toBe("lock_lost");
    expect((await open.payment(id)).facts.operations.at(-1)).toMatchObject({ kind, status: "not_sent" });
    expect(await open.timesMoved(id, kind)).toBe(0);
    expect(await codeOf(go(open, id, "k"))).toBe("succeeded");
  });

  test("a movement that the gateway declines binds the key to that answer, and another key may try", async () => {
    const world = new PaymentsWorld();
    const id = await ready(world, "decline");
    const before = visibleStatus(await world.payment(id));
    expect(await codeOf(go(world, id, "k"))).toBe(`${kind}_declined`);
    await expect(go(world, id, "k")).rejects.toMatchObject({ code: `${kind}_declined`, replayed: true });
    expect(visibleStatus(await world.payment(id))).toBe(before);
    // The token acts on the first send of each operation.
    expect(await codeOf(go(world, id, "other"))).toBe(`${kind}_declined`);
  });

  test("a movement that does not reach the gateway leaves the key free to try again on the same row", async () => {
    const world = new PaymentsWorld();
    const id = await ready(world, "unreachable");
    expect(await codeOf(go(world, id, "k"))).toBe("gateway_unavailable");
    const unsent = (await world.payment(id)).facts.operations.at(-1);
    expect(unsent).toMatchObject({ kind, status: "not_sent", dueAt: null });
    const { operation } = await go(world, id, "k");
    expect(operation).toMatchObject({ id: unsent?.id, status: "succeeded" });
    expect(await world.timesMoved(id, kind)).toBe(1);
  });

  test.each([
    ["timeout_captured", "unknown"],
    ["timeout_not_captured", "unknown"],
    ["error_500", "unknown"],
    ["late_60000", "unknown"],
    ["processing", "pending"],
  ])(
    "a movement that is answered with %s is %s, keeps others out, and is found out",
    async (behaviour, status) => {
      const world = new PaymentsWorld();
      const id = await ready(world, behaviour);
      const first = await go(world, id, "k");
      expect(first.operation.status).toBe(status);
      expect(visibleStatus(first.payment)).toBe(`${kind === "void" ? "void" : "refund"}ing`);
      const calls = world.gateway.calls.length;
      expect(await codeOf(go(world, id, "k"))).toBe(status);
      expect(await codeOf(go(world, id, "other"))).toBe(`${kind}_in_progress`);
      expect(await codeOf(world.capture(id, "c"))).toBe(`${kind}_in_progress`);
      expect(world.gateway.calls).toHaveLength(calls);
      for (let pass = 0; pass < 4; pass += 1) {
        world.clock.advance(150_000);
        await world.reconcile();
      }
      expect(world.errors).toEqual([]);
      expect(await codeOf(go(world, id, "k"))).toBe("succeeded");
      expect(await world.timesMoved(id, kind)).toBe(1);
    },
  );

  test("a movement that is open lets another key start over if `find` alone resolves it", async () => {
    const world = new PaymentsWorld();
    const id = await ready(world, "timeout_captured");
    await go(world, id, "k");
    world.clock.advance(2_000);
    expect(await codeOf(go(world, id, "other"))).toBe(thenRefused);
  });

  test("a movement that the gateway never tells about ends with a person, and keeps all others out until then", async () => {
    const world = new PaymentsWorld();
    const id = await ready(world, "error_500_stored");
    await go(world, id, "k");
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const { dueAt } = openOperationOf(await world.payment(id)) ?? {};
      world.clock.advance((dueAt?.getTime() ?? NaN) - world.clock.now().getTime());
      await world.reconcile();
    }
    expect(openOperationOf(await world.payment(id))).toMatchObject({ kind, status: "needs_review" });
    expect(await codeOf(go(world, id, "k"))).toBe("needs_review");
    expect(await codeOf(go(world, id, "other"))).toBe(`${kind}_in_progress`);
    expect(await world.eventTypes(id)).toContain("operation.needs_review");
  });

  test("a movement on a payment that others keep writing is told that it is busy", async () => {
    const payments = new InterruptedRepository();
    const world = new PaymentsWorld({ payments });
    const id = await ready(world);
    const before = payments.saves;
    payments.beforeSave = async () => {
      throw new VersionConflictError(id);
    };
    expect(await codeOf(go(world, id, "k"))).toBe("payment_busy");
    expect(payments.saves - before).toBe(3);
    expect(await world.timesMoved(id, kind)).toBe(0);
  });

  test("a movement without a store sends nothing; one that fails after the answer is finished later", async () => {
    const payments = new InterruptedRepository();
    const world = new PaymentsWorld({ payments });
    const id = await ready(world);
    payments.beforeSave = async () => {
      throw new StoreUnavailableError("down");
    };
    expect(await codeOf(go(world, id, "k"))).toBe("service_unavailable");
    expect(await world.timesMoved(id, kind)).toBe(0);
    const intent = payments.saves + 1;
    payments.beforeSave = async (save) => {
      if (save > intent) throw new StoreUnavailableError("down");
    };
    expect(await codeOf(go(world, id, "k"))).toBe("started");
    payments.beforeSave = async () => {};
    world.clock.advance(5_000);
    expect(await world.reconcile()).toMatchObject({ done: 1 });
    expect(await codeOf(go(world, id, "k"))).toBe("succeeded");
    expect(await world.timesMoved(id, kind)).toBe(1);
  });
});

describe("a void", () => {
  test.each([
    ["captured", (world: PaymentsWorld) => world.captured()],
    [
      "voided",
      async (world: PaymentsWorld) => {
        const id = await world.authorize();
        await world.void(id, "before");
        return id;
      },
    ],
    [
      "declined",
      async (world: PaymentsWorld) => {
        const error = await world.authorize("tok_decline").catch((refusal: unknown) => refusal);
        return (error as { facts: { paymentId: PaymentId } }).facts.paymentId;
      },
    ],
  ])("a void of a %s payment is refused", async (status, made) => {
    const world = new PaymentsWorld();
    const id = await made(world);
    await expect(world.void(id, "k")).rejects.toMatchObject({
      code: "payment_not_voidable",
      facts: { paymentStatus: status },
    });
  });

  test("a void of a payment that is only being authorized is told to wait", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_authorize_timeout_not_captured");
    expect(await codeOf(world.void(id, "k"))).toBe("authorize_in_progress");
  });

  test("a void at the authorization's end lets it expire instead, and the release lets the money go", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_ok", 1_000n, 60);
    world.clock.advance(60_000);
    await expect(world.void(id, "k")).rejects.toMatchObject({
      code: "payment_not_voidable",
      facts: { paymentStatus: "expired" },
    });
    await world.reconcile();
    expect(openOperationOf(await world.payment(id))).toBeUndefined();
    expect(await world.timesMoved(id, "void")).toBe(1);
  });

  test("a void releases the reserved money, so that a capture finds none and the payment stays voided", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize();
    await world.void(id, "k");
    const { authorizationReference } = (await world.payment(id)).facts;
    expect(await world.simulated.authorization(id, authorizationReference ?? "")).toMatchObject({
      status: "voided",
      reserved: 0n,
    });
    expect(await codeOf(world.capture(id, "c"))).toBe("payment_not_capturable");
    expect(await world.eventTypes(id)).toEqual([
      "authorize.started",
      "authorize.succeeded",
      "payment.authorized",
      "void.started",
      "void.succeeded",
      "payment.voided",
    ]);
  });

  test("a void whose authorization the gateway no longer has ends the payment as expired, and replays so", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_void_authorization_gone");
    expect(await codeOf(world.void(id, "k"))).toBe("payment_expired");
    await expect(world.void(id, "k")).rejects.toMatchObject({ code: "payment_expired", replayed: true });
    await world.reconcile();
    const payment = await world.payment(id);
    expect(payment.facts.status).toBe("expired");
    expect(openOperationOf(payment)).toBeUndefined();
  });

  test("a void that was declined leaves a payment that can be captured", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_void_decline");
    await codeOf(world.void(id, "k"));
    expect(await codeOf(world.capture(id, "c"))).toBe("succeeded");
  });
});

describe("a refund", () => {
  test("a refund gives back parts until all is given back", async () => {
    const world = new PaymentsWorld();
    const id = await world.captured();
    expect(amountRefunded((await world.refund(id, "a", { amount: 300n, currency: "eur" })).payment)).toBe(
      300n,
    );
    expect(amountRefunded((await world.refund(id, "b", { amount: 300n })).payment)).toBe(600n);
    await expect(world.refund(id, "c", { amount: 401n })).rejects.toMatchObject({
      code: "amount_exceeds_captured",
      facts: { maxAmount: 400n },
    });
    // Refused without an operation, so the key is free.
    const last = await world.refund(id, "c");
    expect(last.operation.amount).toBe(400n);
    expect(figuresOf(last.payment)).toMatchObject({ visibleStatus: "captured", amountRefunded: 1_000n });
    expect(await codeOf(world.refund(id, "d", { amount: 1n }))).toBe("amount_exceeds_captured");
    expect(await world.timesMoved(id, "refund")).toBe(3);
  });

  test("a refund is bounded by what was captured, not by what was authorized", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize();
    await world.capture(id, "c", { amount: 400n });
    expect(await codeOf(world.refund(id, "k", { amount: 401n }))).toBe("amount_exceeds_captured");
    expect((await world.refund(id, "k")).operation.amount).toBe(400n);
  });

  test("a refund in another currency is refused", async () => {
    const world = new PaymentsWorld();
    expect(await codeOf(world.refund(await world.captured(), "k", { currency: "USD" }))).toBe(
      "currency_mismatch",
    );
  });

  test("a refund is refused for a key that asked for something else", async () => {
    const world = new PaymentsWorld();
    const id = await world.captured();
    await world.refund(id, "k", { amount: 300n });
    expect(await codeOf(world.refund(id, "k", { amount: 301n }))).toBe("idempotency_key_reused");
    expect(await codeOf(world.refund(id, "k"))).toBe("idempotency_key_reused");
    expect(await codeOf(world.refund(id, "k", { amount: 300n }))).toBe("succeeded");
  });

  test("a refund of all that is left, tried again later on its row, is of what its row says or refused", async () => {
    const world = new PaymentsWorld();
    const id = await world.captured("tok_refund_unreachable");
    expect(await codeOf(world.refund(id, "all"))).toBe("gateway_unavailable");
    expect(await codeOf(world.refund(id, "part", { amount: 400n }))).toBe("gateway_unavailable");
    expect(await codeOf(world.refund(id, "part", { amount: 400n }))).toBe("succeeded");
    expect(await codeOf(world.refund(id, "all"))).toBe("amount_exceeds_captured");
    expect(await codeOf(world.refund(id, "rest"))).toBe("gateway_unavailable");
    expect((await world.refund(id, "rest")).operation.amount).toBe(600n);
  });

  test.each([
    ["authorized", (world: PaymentsWorld) => world.authorize()],
    [
      "voided",
      async (world: PaymentsWorld) => {
        const id = await world.authorize();
        await world.void(id, "before");
        return id;
      },
    ],
    [
      "expired",
      async (world: PaymentsWorld) => {
        const id = await world.authorize("tok_ok", 1_000n, 60);
        world.clock.advance(60_000);
        await codeOf(world.capture(id, "late"));
        await world.reconcile();
        return id;
      },
    ],
  ])("a refund of an %s payment is refused", async (status, made) => {
    const world = new PaymentsWorld();
    const id = await made(world);
    await expect(world.refund(id, "k")).rejects.toMatchObject({
      code: "payment_not_refundable",
      facts: { paymentStatus: status },
    });
  });

  test("a refund waits for a capture whose outcome is not known", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_timeout_captured");
    await world.capture(id, "c");
    expect(await codeOf(world.refund(id, "k"))).toBe("capture_in_progress");
    world.clock.advance(2_000);
    expect(await codeOf(world.refund(id, "k"))).toBe("succeeded");
  });

  test("long after the authorization's end is as good as before it", async () => {
    const world = new PaymentsWorld();
    const id = await world.captured();
    world.clock.advance(90 * 86_400_000);
    expect(await codeOf(world.refund(id, "k"))).toBe("succeeded");
  });
});
