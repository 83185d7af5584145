import { openOperationOf, amountCaptured } from "../../../src/domain/payment/payment";
import { LockLostError, LockUnavailableError } from "../../../src/application/ports/lock-errors";
import type { LockHold, LockProvider } from "../../../src/application/ports/lock-provider";
import { budgets } from "../../../src/application/time-budgets";
import {
  StoreUnavailableError,
  VersionConflictError,
} from "../../../src/application/ports/payment-repository";
import { parseMerchantId, parsePaymentId, paymentResourceId } from "../../../src/domain/identifiers";
import type { PaymentError } from "../../../src/domain/payment/errors";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { detached } from "../../../src/infrastructure/locking/hold/reentrancy";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { Gate, settled } from "../../support/fakes/gate";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

const HOUR = 3_600_000;

/** A provider whose hold is lost at the given call of `assertHeld` (1: before the intent, 2: before the send). */
function losesLockAt(call: number): LockProvider {
  const real = new NoOpLockProvider();
  return {
    withLock: (id, section, options) =>
      real.withLock(
        id,
        (hold) => {
          let calls = 0;
          const losing: LockHold = {
            resourceId: hold.resourceId,
            fencingToken: hold.fencingToken,
            waitedMs: hold.waitedMs,
            signal: hold.signal,
            aloneForMs: () => hold.aloneForMs(),
            assertHeld: () => {
              calls += 1;
              if (calls === call && options?.purpose === "capture")
                throw new LockLostError(id, "the lease ended");
            },
          };
          return section(losing);
        },
        options,
      ),
  };
}

/** Lets a test step in before a save, by its number. */
class InterruptedRepository extends InMemoryPaymentRepository {
  saves = 0;
  beforeSave: (save: number) => Promise<void> = async () => {};

  override async save(...[payment, version]: Parameters<InMemoryPaymentRepository["save"]>) {
    this.saves += 1;
    await this.beforeSave(this.saves);
    return super.save(payment, version);
  }
}

describe("a capture", () => {
  test("a capture takes the money once and says so", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize();
    const { operation, payment, replayed } = await world.capture(id, "k");
    expect(operation).toMatchObject({ kind: "capture", status: "succeeded", amount: 1_000n });
    expect(payment.facts.status).toBe("captured");
    expect(amountCaptured(payment)).toBe(1_000n);
    expect(replayed).toBe(false);
    expect(await world.timesCaptured(id)).toBe(1);
    expect(await world.eventTypes(id)).toEqual([
      "authorize.started",
      "authorize.succeeded",
      "payment.authorized",
      "capture.started",
      "capture.succeeded",
      "payment.captured",
    ]);
  });

  test("a capture of a part leaves the rest to be released", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize();
    const { payment } = await world.capture(id, "k", { amount: 400n, currency: "eur" });
    expect(amountCaptured(payment)).toBe(400n);
    expect(await codeOf(world.capture(id, "other", { amount: 600n }))).toBe("payment_already_captured");
  });

  test("a capture with the same key again gets the first answer, also after the payment went on", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize();
    const first = await world.capture(id, "k");
    const calls = world.gateway.calls.length;
    world.clock.advance(9 * HOUR);
    const again = await world.capture(id, "k");
    expect(again.replayed).toBe(true);
    expect(again.operation).toEqual(first.operation);
    expect(again.payment.facts.status).toBe(first.payment.facts.status);
    expect(world.gateway.calls).toHaveLength(calls);
  });

  test("a capture of an unknown payment, or of another merchant's, finds none and touches no lock", async () => {
    const untouchable: LockProvider = { withLock: () => Promise.reject(new Error("the lock was touched")) };
    const open = new PaymentsWorld();
    const id = await open.authorize();
    const world = new PaymentsWorld({ locks: untouchable, payments: open.context.payments });
    const stranger = { merchant: parseMerchantId("stranger") };
    expect(await codeOf(world.capture(parsePaymentId(world.context.ids.nextId()), "k"))).toBe(
      "payment_not_found",
    );
    expect(await codeOf(world.capture(id, "k", {}, stranger))).toBe("payment_not_found");
  });

  test("refused without an operation leaves its key free for a corrected body", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize();
    expect(await codeOf(world.capture(id, "k", { amount: 1_001n }))).toBe("amount_exceeds_authorized");
    expect(await codeOf(world.capture(id, "k", { currency: "USD" }))).toBe("currency_mismatch");
    expect(await codeOf(world.capture(id, "k", { amount: 1_000n }))).toBe("succeeded");
  });

  test("a capture is refused for a key that asked for something else", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize();
    await world.capture(id, "k", { amount: 400n });
    expect(await codeOf(world.capture(id, "k", { amount: 500n }))).toBe("idempotency_key_reused");
    expect(await codeOf(world.capture(id, "k"))).toBe("idempotency_key_reused");
  });

  test("a capture names the most that can be captured", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize();
    const refusal = (await world
      .capture(id, "k", { amount: 2_000n })
      .catch((error) => error)) as PaymentError;
    expect(refusal.facts).toEqual({ maxAmount: 1_000n });
  });

  test("a capture of a declined authorization is not possible", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_decline").catch((error: PaymentError<"authorization_declined">) => {
      return parsePaymentId(error.facts.paymentId);
    });
    expect((await world.payment(id)).facts.status).toBe("declined");
    expect(await codeOf(world.capture(id, "k"))).toBe("payment_not_capturable");
  });
});

describe("the authorization's end", () => {
  test("the authorization's end counts at its very instant, and leaves a release that the reconciler sends", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_ok", 1_000n, 60);
    world.clock.advance(60_000);
    expect(await codeOf(world.capture(id, "k"))).toBe("payment_expired");
    const payment = await world.payment(id);
    expect(payment.facts.status).toBe("expired");
    expect(openOperationOf(payment)).toMatchObject({ kind: "void", idempotencyKey: null, status: "started" });
    expect(await world.reconcile()).toMatchObject({ done: 1, failed: 0 });
    expect(openOperationOf(await world.payment(id))).toBeUndefined();
    expect(world.gateway.calls).toEqual(["authorize", "void"]);
    expect(await codeOf(world.capture(id, "k"))).toBe("payment_expired");
  });

  test("one millisecond earlier is in time", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_ok", 1_000n, 60);
    world.clock.advance(59_999);
    expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
  });

  test("the authorization's end is judged inside the lock: the wait for it may outlive the authorization", async () => {
    const locks = new MemoryLockProvider();
    const world = new PaymentsWorld({ locks });
    const id = await world.authorize("tok_ok", 1_000n, 60);
    const leaving = new Gate();
    const holder = locks.withLock(paymentResourceId(id), () => leaving.passed);
    const waiting = codeOf(world.capture(id, "k"));
    await settled();
    world.clock.advance(60_000);
    leaving.open();
    await holder;
    expect(await waiting).toBe("payment_expired");
    expect(world.gateway.calls).toEqual(["authorize"]);
  });
});

describe("the lock", () => {
  test("the lock that is not had in time is a timeout, and nothing was done", async () => {
    const locks = new MemoryLockProvider();
    const world = new PaymentsWorld({ locks });
    const id = await world.authorize();
    const leaving = new Gate();
    const holder = locks.withLock(paymentResourceId(id), () => leaving.passed);
    expect(await codeOf(world.capture(id, "k", {}, { lockTimeout: 0 }))).toBe("lock_timeout");
    leaving.open();
    await holder;
    expect(world.gateway.calls).toEqual(["authorize"]);
  });

  test("held for the very same key is told as such, another key gets the timeout", async () => {
    const world = new PaymentsWorld({ locks: new MemoryLockProvider() });
    const id = await world.authorize();
    const sending = new Gate();
    const answering = new Gate();
    world.gateway.next("capture", async (real) => {
      sending.open();
      await answering.passed;
      return real();
    });
    const first = codeOf(world.capture(id, "k"));
    await sending.passed;
    expect(await codeOf(world.capture(id, "k", {}, { lockTimeout: 0 }))).toBe("idempotency_key_in_use");
    expect(await codeOf(world.capture(id, "other", {}, { lockTimeout: 0 }))).toBe("lock_timeout");
    answering.open();
    expect(await first).toBe("succeeded");
  });

  test("the lock whose backend fails says so, and nothing was sent", async () => {
    const open = new PaymentsWorld();
    const id = await open.authorize();
    const down: LockProvider = {
      withLock: (resource) => Promise.reject(new LockUnavailableError(resource, "down")),
    };
    const world = new PaymentsWorld({ locks: down, payments: open.context.payments });
    expect(await codeOf(world.capture(id, "k"))).toBe("lock_unavailable");
  });

  test("lost before the intent: nothing is written", async () => {
    const world = new PaymentsWorld({ locks: losesLockAt(1) });
    const id = await world.authorize();
    expect(await codeOf(world.capture(id, "k"))).toBe("lock_lost");
    expect((await world.payment(id)).facts.operations).toHaveLength(1);
  });

  test("lost before the send: nothing is sent, and the same key may try again on the same row", async () => {
    const world = new PaymentsWorld({ locks: losesLockAt(2) });
    const id = await world.authorize();
    expect(await codeOf(world.capture(id, "k"))).toBe("lock_lost");
    expect(world.gateway.calls).toEqual(["authorize"]);
    const [, unsent] = (await world.payment(id)).facts.operations;
    expect(unsent).toMatchObject({ status: "not_sent", dueAt: null });
    const healthy = new PaymentsWorld({ payments: world.context.payments });
    Object.assign(healthy.context, { gateway: world.gateway });
    const { operation } = await healthy.capture(id, "k");
    expect(operation).toMatchObject({ id: unsent?.id, status: "succeeded" });
  });
});

describe("a gateway that", () => {
  test("a gateway that declines binds the key to that answer, and another key may try", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_capture_decline");
    expect(await codeOf(world.capture(id, "k"))).toBe("capture_declined");
    const again = (await world.capture(id, "k").catch((error) => error)) as PaymentError;
    expect(again).toMatchObject({ code: "capture_declined", replayed: true });
    expect((await world.payment(id)).facts.status).toBe("authorized");
  });

  test("no longer has the authorization ends the payment, and replays so", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_authorization_gone");
    expect(await codeOf(world.capture(id, "k"))).toBe("payment_expired");
    expect((await world.payment(id)).facts.status).toBe("expired");
    const again = (await world.capture(id, "k").catch((error) => error)) as PaymentError;
    expect(again).toMatchObject({ code: "payment_expired", replayed: true });
  });

  test("a gateway that cannot be reached leaves the key free to try again on the same row", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_unreachable");
    expect(await codeOf(world.capture(id, "k"))).toBe("gateway_unavailable");
    const unsent = (await world.payment(id)).facts.operations[1];
    expect(unsent?.status).toBe("not_sent");
    expect(await codeOf(world.capture(id, "k", { amount: 1n }))).toBe("idempotency_key_reused");
    const { operation } = await world.capture(id, "k");
    expect(operation).toMatchObject({ id: unsent?.id, status: "succeeded" });
    expect(await world.timesCaptured(id)).toBe(1);
  });

  test("a gateway that cannot be reached does not keep another key out", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_unreachable");
    await codeOf(world.capture(id, "k"));
    expect(await codeOf(world.capture(id, "other"))).toBe("gateway_unavailable");
    expect(await codeOf(world.capture(id, "other"))).toBe("succeeded");
    expect(await codeOf(world.capture(id, "k"))).toBe("payment_already_captured");
  });

  test.each([
    ["tok_timeout_captured", "unknown"],
    ["tok_timeout_not_captured", "unknown"],
    ["tok_error_500", "unknown"],
    ["tok_late_60000", "unknown"],
    ["tok_processing", "pending"],
  ])("a gateway that answers with %s leaves the outcome %s, and it is found out", async (token, status) => {
    const world = new PaymentsWorld();
    const id = await world.authorize(token);
    const first = await world.capture(id, "k");
    expect(first.operation.status).toBe(status);
    // Asked again at once, the stored row answers.
    const calls = world.gateway.calls.length;
    expect(await codeOf(world.capture(id, "k"))).toBe(status);
    expect(await codeOf(world.capture(id, "other"))).toBe("capture_in_progress");
    expect(world.gateway.calls).toHaveLength(calls);
    for (let pass = 0; pass < 4; pass += 1) {
      world.clock.advance(150_000);
      await world.reconcile();
    }
    expect(world.errors).toEqual([]);
    expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
    expect(await codeOf(world.capture(id, "other"))).toBe("payment_already_captured");
    expect(await world.timesCaptured(id)).toBe(1);
  });

  test("a gateway that fails the port's contract by throwing has not answered", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize();
    world.gateway.next("capture", async (real) => {
      await real();
      throw new Error("a defect");
    });
    expect((await world.capture(id, "k")).operation.status).toBe("unknown");
    world.clock.advance(2_000);
    expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
    expect(await world.timesCaptured(id)).toBe(1);
  });
});

describe("an open capture", () => {
  test("an open capture is resolved by the same key as soon as the gateway may be asked again", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_timeout_captured");
    await world.capture(id, "k");
    world.clock.advance(1_999);
    expect(await codeOf(world.capture(id, "k"))).toBe("unknown");
    world.clock.advance(1);
    expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
    expect(world.gateway.calls).toEqual(["authorize", "capture", "find"]);
  });

  test("an open capture that `find` alone resolves lets the other key start over", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_timeout_captured");
    await world.capture(id, "k");
    world.clock.advance(2_000);
    expect(await codeOf(world.capture(id, "other"))).toBe("payment_already_captured");
  });

  test("an open capture that has to be sent again makes the other key wait for another time", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_timeout_not_captured");
    await world.capture(id, "k");
    world.clock.advance(2_000);
    expect(await codeOf(world.capture(id, "other"))).toBe("capture_in_progress");
    expect(world.gateway.calls).toEqual(["authorize", "capture", "find", "capture"]);
    expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
  });

  test("an open capture is not closed because a resend could not reach the gateway", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_timeout_not_captured");
    await world.capture(id, "k");
    world.clock.advance(2_000);
    world.gateway.next("capture", async () => ({ outcome: "not_sent", reason: "refused" }));
    expect(await codeOf(world.capture(id, "k"))).toBe("unknown");
  });

  test("an open capture goes to a person after the sixth fruitless attempt, and nobody sends it after that", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_error_500_stored");
    await world.capture(id, "k");
    const due: number[] = [];
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const { dueAt } = openOperationOf(await world.payment(id)) ?? {};
      const waitMs = (dueAt?.getTime() ?? NaN) - world.clock.now().getTime();
      due.push(waitMs);
      world.clock.advance(waitMs);
      await world.reconcile();
    }
    expect(due).toEqual([5_000, 30_000, 120_000, 600_000, 3_600_000, 21_600_000]);
    expect(openOperationOf(await world.payment(id))?.status).toBe("needs_review");
    expect(await world.eventTypes(id)).toContain("operation.needs_review");
    const before = world.gateway.calls.length;
    world.clock.advance(24 * HOUR);
    await world.reconcile();
    world.clock.advance(2_000);
    expect((await world.capture(id, "k")).operation.status).toBe("needs_review");
    expect(await codeOf(world.capture(id, "other"))).toBe("capture_in_progress");
    expect(world.gateway.calls.slice(before)).toEqual(["find", "find"]);
  });

  test("an open capture is not hurried into review by impatient callers", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_error_500_stored");
    await world.capture(id, "k");
    const { dueAt } = openOperationOf(await world.payment(id)) ?? {};
    world.clock.advance(2_000);
    await world.capture(id, "k");
    world.clock.advance(2_000);
    await world.capture(id, "k");
    expect(openOperationOf(await world.payment(id))).toMatchObject({ status: "unknown", attempts: 0, dueAt });
  });

  test("an open capture is no longer sent when the gateway may have forgotten its key", async () => {
    const world = new PaymentsWorld({ remembersKeysForMs: 24 * HOUR });
    const id = await world.authorize("tok_timeout_not_captured");
    await world.capture(id, "k");
    world.clock.advance(23 * HOUR);
    await world.reconcile();
    expect(world.gateway.calls).toEqual(["authorize", "capture", "find"]);
    expect(openOperationOf(await world.payment(id))?.status).toBe("unknown");
  });

  test("found with another amount goes to a person at once", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_timeout_captured");
    await world.capture(id, "k");
    world.clock.advance(2_000);
    world.gateway.next("find", async () => ({ outcome: "mismatch", evidence: "it captured 1 EUR" }));
    expect((await world.capture(id, "k")).operation.status).toBe("needs_review");
  });
});

describe("the store", () => {
  test("the store that conflicts three times in a row makes the payment busy, and nothing is sent", async () => {
    const payments = new InterruptedRepository();
    const world = new PaymentsWorld({ payments });
    const id = await world.authorize();
    const before = payments.saves;
    payments.beforeSave = async () => {
      throw new VersionConflictError(id);
    };
    expect(await codeOf(world.capture(id, "k"))).toBe("payment_busy");
    expect(payments.saves - before).toBe(3);
    expect(world.gateway.calls).toEqual(["authorize"]);
  });

  test("the store that conflicts once is decided on anew", async () => {
    const payments = new InterruptedRepository();
    const world = new PaymentsWorld({ payments });
    const id = await world.authorize();
    const at = payments.saves + 1;
    payments.beforeSave = async (save) => {
      if (save === at) throw new VersionConflictError(id);
    };
    expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
  });

  test("the store that fails after the gateway answered is tried again", async () => {
    const payments = new InterruptedRepository();
    const world = new PaymentsWorld({ payments });
    const id = await world.authorize();
    const settle = payments.saves + 2;
    payments.beforeSave = async (save) => {
      if (save === settle || save === settle + 1) throw new StoreUnavailableError("down");
    };
    expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
  });

  test("the store that stays down after the gateway answered leaves an intent that finishes later", async () => {
    const payments = new InterruptedRepository();
    const world = new PaymentsWorld({ payments });
    const id = await world.authorize();
    const intent = payments.saves + 1;
    payments.beforeSave = async (save) => {
      if (save > intent) throw new StoreUnavailableError("down");
    };
    expect((await world.capture(id, "k")).operation.status).toBe("started");
    payments.beforeSave = async () => {};
    world.clock.advance(5_000);
    expect(await world.reconcile()).toMatchObject({ done: 1 });
    expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
    expect(await world.timesCaptured(id)).toBe(1);
  });

  test("the store that is down when the gateway was not reached leaves an intent that is carried out later", async () => {
    const payments = new InterruptedRepository();
    const world = new PaymentsWorld({ payments });
    const id = await world.authorize("tok_unreachable");
    const intent = payments.saves + 1;
    payments.beforeSave = async (save) => {
      if (save > intent) throw new StoreUnavailableError("down");
    };
    expect((await world.capture(id, "k")).operation.status).toBe("started");
    payments.beforeSave = async () => {};
    world.clock.advance(5_000);
    await world.reconcile();
    expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
    expect(await world.timesCaptured(id)).toBe(1);
  });

  test("the store that fails after somebody else took the intent over does not say that nothing was done", async () => {
    const payments = new InterruptedRepository();
    const world = new PaymentsWorld({ payments, locks: new NoOpLockProvider() });
    const id = await world.authorize();
    world.gateway.next("capture", async () => {
      // Another process finds the intent and carries it out, and then the store is gone for whoever wrote it.
      world.clock.advance(60_000);
      await detached(() => world.capture(id, "k"));
      payments.find = async () => {
        throw new StoreUnavailableError("down");
      };
      return { outcome: "not_sent", reason: "connection refused" };
    });
    expect((await world.capture(id, "k")).operation.status).toBe("started");
    payments.find = InMemoryPaymentRepository.prototype.find.bind(payments);
    expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
    expect(await world.timesCaptured(id)).toBe(1);
  });

  test("the store that is silent once the gateway has answered keeps nobody for longer than saves may take", async () => {
    const payments = new InterruptedRepository();
    const world = new PaymentsWorld({ payments });
    const id = await world.authorize();
    const intent = payments.saves + 1;
    const silent = new Gate();
    payments.beforeSave = async (save) => {
      if (save > intent) await silent.passed;
    };
    const begunAt = performance.now();
    expect((await world.capture(id, "k")).operation.status).toBe("started");
    expect(performance.now() - begunAt).toBeLessThan(budgets.savesMs + 500);
    // What was under way is stored after all.
    silent.open();
    await settled();
    expect((await world.payment(id)).facts.status).toBe("captured");
    expect(await world.timesCaptured(id)).toBe(1);
  });

  test("the store that fails slowly is not tried again when the time for saves is over", async () => {
    const payments = new InterruptedRepository();
    const world = new PaymentsWorld({ payments });
    const id = await world.authorize();
    const intent = payments.saves + 1;
    payments.beforeSave = async (save) => {
      if (save <= intent) return;
      await new Promise((resolve) => setTimeout(resolve, 0.6 * budgets.savesMs));
      throw new StoreUnavailableError("down");
    };
    expect((await world.capture(id, "k")).operation.status).toBe("started");
    await new Promise((resolve) => setTimeout(resolve, budgets.savesMs));
    expect(payments.saves).toBe(intent + 2);
  });

  test("the store that is down from the start sends nothing", async () => {
    const payments = new InterruptedRepository();
    const world = new PaymentsWorld({ payments });
    const id = await world.authorize();
    payments.beforeSave = async () => {
      throw new StoreUnavailableError("down");
    };
    expect(await codeOf(world.capture(id, "k"))).toBe("service_unavailable");
    expect(world.gateway.calls).toEqual(["authorize"]);
  });
});
