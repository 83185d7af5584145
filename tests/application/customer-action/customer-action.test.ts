import { FollowHint } from "../../../src/application/gateway-events/follow-hint";
import { ObservePayment } from "../../../src/application/use-cases/observe-payment";
import { parseIdempotencyKey, type PaymentId } from "../../../src/domain/identifiers";
import { amountCapturable, visibleStatus } from "../../../src/domain/payment/payment";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { Gate } from "../../support/fakes/gate";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, secretIn, type PaymentsWorld } from "../../support/worlds/payments-world";

const HOUR_MS = 3_600_000;
const DAY_SECONDS = 86_400;
const key = parseIdempotencyKey("order-1");
const wanted = {
  idempotencyKey: key,
  paymentMethod: "tok_requires_action",
  returnUrl: "https://shop.example/back",
  expiresInSeconds: 7 * DAY_SECONDS,
};

const status = async (world: PaymentsWorld, id: PaymentId) => visibleStatus(await world.payment(id));
const held = async (world: PaymentsWorld, id: PaymentId) =>
  (await world.simulated.authorization(id, (await world.payment(id)).facts.authorizationReference ?? ""))
    ?.reserved;

async function sent(world: PaymentsWorld, change: Partial<typeof wanted> = {}): Promise<PaymentId> {
  const { payment, operation } = await world.begin({ ...wanted, ...change });
  expect(operation.status).toBe("requires_action");
  return payment.facts.id;
}

/** As Stripe's event would have it asked about. */
async function hint(world: PaymentsWorld, id: PaymentId): Promise<string> {
  const { authorizationReference } = (await world.payment(id)).facts;
  const observe = new ObservePayment(world.locks, world.context);
  const follow = new FollowHint(world.locks, world.context, observe);
  return follow.execute({ reference: authorizationReference ?? "not yet known", labelled: id });
}

describeOnEveryStore("a payment that its customer has to confirm", (open) => {
  it("waits for the customer with no lock held, nothing reserved, and shows where they have to go", async () => {
    const locks = new MemoryLockProvider();
    const world = await open({ locks });
    const id = await sent(world);
    const payment = await world.payment(id);
    expect(visibleStatus(payment)).toBe("requires_action");
    expect(payment.facts).toMatchObject({ status: "authorizing", returnUrl: wanted.returnUrl });
    expect(secretIn(payment.facts.actionUrl ?? "")).toMatch(/^[\w-]{22}$/);
    expect(amountCapturable(payment)).toBe(0n);
    expect(await held(world, id)).toBe(0n);
    await expect(locks.withLock(`payment:${id}`, async () => "free", { timeout: 0 })).resolves.toBe("free");
  });

  it("is authorized when the customer has confirmed and the gateway is asked, and shows no page any more", async () => {
    const world = await open();
    const id = await sent(world);
    await world.customer(id, "confirm");
    world.clock.advance(31_000);
    await world.reconcile();
    const { facts } = await world.payment(id);
    expect(facts).toMatchObject({ status: "authorized", actionUrl: null });
    expect(await held(world, id)).toBe(1_000n);
    expect(await codeOf(world.capture(id, "capture-1"))).toBe("succeeded");
    expect(await world.eventTypes(id)).toEqual([
      "authorize.started",
      "authorize.requires_action",
      "authorize.succeeded",
      "payment.authorized",
      "capture.started",
      "capture.succeeded",
      "payment.captured",
    ]);
  });

  it("is declined when the customer declines, and its key says so from then on", async () => {
    const world = await open();
    const id = await sent(world);
    await world.customer(id, "decline");
    await world.observe(id);
    expect(await status(world, id)).toBe("declined");
    expect(await codeOf(world.begin(wanted))).toBe("authorization_declined");
    expect(await world.timesMoved(id, "authorize")).toBe(0);
  });

  it("gives the same key the same answer, and sends the authorization once", async () => {
    const world = await open();
    const id = await sent(world);
    const { actionUrl } = (await world.payment(id)).facts;
    world.clock.advance(10_000);
    const again = await world.begin(wanted);
    expect(again.operation.status).toBe("requires_action");
    expect(again.payment.facts).toMatchObject({ id, actionUrl });
    expect(world.gateway.calls.filter((call) => call === "authorize")).toHaveLength(1);
    expect(await codeOf(world.begin({ ...wanted, returnUrl: "https://other.example/" }))).toBe(
      "idempotency_key_reused",
    );
  });

  it("answers the same key with the outcome as soon as the customer has acted", async () => {
    const world = await open();
    const id = await sent(world);
    await world.customer(id, "confirm");
    world.clock.advance(3_000);
    const again = await world.begin(wanted);
    expect(again.operation.status).toBe("succeeded");
    expect(again.payment.facts).toMatchObject({ id, status: "authorized" });
  });

  it("refuses a capture for now, and not for good, while the gateway was asked too short a time ago", async () => {
    const world = await open();
    const id = await sent(world);
    await world.customer(id, "confirm");
    expect(await codeOf(world.capture(id, "capture-1"))).toBe("authorize_in_progress");
    expect(world.gateway.calls).not.toContain("find");
    // A refund would be refused either way.
    expect(await codeOf(world.refund(id, "refund-1"))).toBe("payment_not_refundable");
    world.clock.advance(2_000);
    expect(await codeOf(world.capture(id, "capture-1"))).toBe("succeeded");
    expect(await world.timesMoved(id, "capture")).toBe(1);
  });

  it("refuses a capture for good only after the gateway said that the customer has not acted", async () => {
    const world = await open();
    const id = await sent(world);
    world.clock.advance(2_000);
    world.gateway.next("find", async () => ({ outcome: "unknown", reason: "no answer" }));
    expect(await codeOf(world.capture(id, "capture-1"))).toBe("authorize_in_progress");
    world.clock.advance(2_000);
    expect(await codeOf(world.capture(id, "capture-1"))).toBe("payment_not_capturable");
  });

  it("is settled by a hint, which leaves no trace while the customer has not acted", async () => {
    const world = await open();
    const id = await sent(world);
    const before = await world.context.payments.find(id);
    expect(await hint(world, id)).toBe("done");
    expect((await world.context.payments.find(id))?.version).toBe(before?.version);
    await world.customer(id, "confirm");
    expect(await hint(world, id)).toBe("done");
    expect(await status(world, id)).toBe("authorized");
  });

  it("expires when the customer does nothing for an hour, and is let go at the gateway", async () => {
    const world = await open();
    const id = await sent(world);
    world.clock.advance(HOUR_MS - 1_000);
    await world.reconcile();
    expect(await status(world, id)).toBe("requires_action");
    world.clock.advance(3_000);
    await world.reconcile();
    expect(await status(world, id)).toBe("expired");
    expect(await world.eventTypes(id)).toEqual([
      "authorize.started",
      "authorize.requires_action",
      "authorize.failed",
      "payment.expired",
      "void.started",
      "void.resent",
      "void.succeeded",
    ]);
    expect(await codeOf(world.begin(wanted))).toBe("payment_expired");
    const late = await world.simulated.authorization(
      id,
      `auth_${(await world.payment(id)).facts.operations[0]?.id}.1`,
    );
    expect(late).toMatchObject({ status: "voided", reserved: 0n });
  });

  it("lets go of what a customer confirms at the very moment at which it expires", async () => {
    const world = await open();
    const id = await sent(world);
    world.clock.advance(HOUR_MS);
    const { actionUrl } = (await world.payment(id)).facts;
    // Between the last question, which still finds them at the page, and the end.
    world.gateway.next("find", async (real) => {
      const found = await real();
      await world.simulated.customerPages.decide(id, secretIn(actionUrl ?? ""), "confirm");
      return found;
    });
    world.gateway.next("void", async (real) => {
      expect(await held(world, id)).toBe(1_000n);
      return real();
    });
    await world.reconcile();
    expect(await status(world, id)).toBe("expired");
    expect(await held(world, id)).toBe(0n);
    expect(world.errors).toEqual([]);
  });

  it("lets go of what a customer confirms after the end, as long as it takes the release to arrive", async () => {
    const world = await open();
    const id = await sent(world);
    const secret = secretIn((await world.payment(id)).facts.actionUrl ?? "");
    world.clock.advance(HOUR_MS);
    world.gateway.next("void", async () => ({ outcome: "not_sent", reason: "unreachable" }));
    await world.reconcile();
    expect(await status(world, id)).toBe("expired");
    expect(await world.simulated.customerPages.decide(id, secret, "confirm")).toMatchObject({
      state: "confirmed",
    });
    expect(await held(world, id)).toBe(1_000n);
    // What the gateway says of the authorization now is no contradiction: it is about to be let go.
    expect(await hint(world, id)).toBe("done");
    expect((await world.payment(id)).facts.operations.some(({ conflicted }) => conflicted)).toBe(false);
    world.clock.advance(10_000);
    await world.reconcile();
    expect(await held(world, id)).toBe(0n);
    expect(await status(world, id)).toBe("expired");
    expect(await world.context.payments.countInReview()).toBe(0);
  });

  it("cannot be confirmed any more when it has been let go", async () => {
    const world = await open();
    const id = await sent(world);
    const secret = secretIn((await world.payment(id)).facts.actionUrl ?? "");
    world.clock.advance(HOUR_MS);
    await world.reconcile();
    expect(await world.simulated.customerPages.decide(id, secret, "confirm")).toMatchObject({
      state: "ended",
    });
    expect(await held(world, id)).toBe(0n);
  });

  it("is waited for no longer than the payment itself could be captured", async () => {
    const world = await open();
    const id = await sent(world, { expiresInSeconds: 60 });
    world.clock.advance(61_000);
    await world.reconcile();
    expect(await status(world, id)).toBe("expired");
  });

  it("refuses a capture and a refund with what the payment is", async () => {
    const world = await open();
    const id = await sent(world);
    world.clock.advance(2_000);
    for (const refusal of [world.capture(id, "c"), world.refund(id, "r")]) {
      await expect(refusal).rejects.toMatchObject({ facts: { paymentStatus: "requires_action" } });
    }
    world.clock.advance(2_000);
    expect(await codeOf(world.capture(id, "c"))).toBe("payment_not_capturable");
    expect(await status(world, id)).toBe("requires_action");
  });

  it("captures when the customer has confirmed a moment ago and nobody has been told yet", async () => {
    const world = await open();
    const id = await sent(world);
    await world.customer(id, "confirm");
    world.clock.advance(3_000);
    expect(await codeOf(world.capture(id, "c"))).toBe("succeeded");
  });

  it("is let go by a void, and cannot be confirmed after it", async () => {
    const world = await open();
    const id = await sent(world);
    const secret = secretIn((await world.payment(id)).facts.actionUrl ?? "");
    expect(await codeOf(world.void(id, "v"))).toBe("succeeded");
    expect(await status(world, id)).toBe("voided");
    expect(await world.simulated.customerPages.decide(id, secret, "confirm")).toMatchObject({
      state: "ended",
    });
    expect(await held(world, id)).toBe(0n);
    expect(await codeOf(world.void(id, "v"))).toBe("succeeded");
    expect(await codeOf(world.begin(wanted))).toBe("payment_voided");
  });

  it("is let go by a void even if the customer confirms while it is on its way", async () => {
    const world = await open();
    const id = await sent(world);
    const secret = secretIn((await world.payment(id)).facts.actionUrl ?? "");
    world.gateway.next("void", async (real) => {
      await world.simulated.customerPages.decide(id, secret, "confirm");
      expect(await held(world, id)).toBe(1_000n);
      return real();
    });
    expect(await codeOf(world.void(id, "v"))).toBe("succeeded");
    expect(await held(world, id)).toBe(0n);
    expect(await status(world, id)).toBe("voided");
  });

  it("owes the gateway a void that did not reach it, because the customer may still act", async () => {
    const world = await open();
    const id = await sent(world);
    world.gateway.next("void", async () => ({ outcome: "not_sent", reason: "unreachable" }));
    expect(await codeOf(world.void(id, "v"))).toBe("unknown");
    expect(await status(world, id)).toBe("voiding");
    world.clock.advance(10_000);
    await world.reconcile();
    expect(await status(world, id)).toBe("voided");
    expect(await codeOf(world.void(id, "v"))).toBe("succeeded");
  });

  it("releases the money after all when the gateway declines the void", async () => {
    const world = await open();
    const id = await sent(world);
    world.gateway.next("void", async () => ({ outcome: "declined", reason: "not now" }));
    expect(await codeOf(world.void(id, "v"))).toBe("void_declined");
    expect(await status(world, id)).toBe("declined");
    await world.reconcile();
    expect(await world.timesMoved(id, "void")).toBe(1);
    expect(await world.context.payments.countInReview()).toBe(0);
  });

  it("is declined for want of a return URL, and a gateway that waits nevertheless is told to let go", async () => {
    const world = await open();
    const { returnUrl: _, ...without } = wanted;
    await expect(world.begin(without)).rejects.toMatchObject({
      code: "authorization_declined",
      message: expect.stringContaining("send `returnUrl`"),
    });
    world.gateway.next("authorize", async () => ({
      outcome: "requires_action",
      reference: "waits",
      url: "https://bank.example/",
    }));
    const other = { ...without, idempotencyKey: parseIdempotencyKey("order-2") };
    expect(await codeOf(world.begin(other))).toBe("authorization_declined");
    const seen: string[] = [];
    world.gateway.next("void", async () => {
      seen.push("void");
      return { outcome: "succeeded", reference: "let go" };
    });
    await world.reconcile();
    expect(seen).toEqual(["void"]);
  });

  it("is found after a crash before its answer was written, by the hint of its label", async () => {
    const world = await open();
    // The process dies after the gateway has answered.
    world.gateway.next("authorize", async (real) => {
      await real();
      return { outcome: "unknown", reason: "the process is gone" };
    });
    const { payment } = await world.begin(wanted);
    const { id } = payment.facts;
    expect(await status(world, id)).toBe("authorizing");
    expect(await hint(world, id)).toBe("done");
    expect(await status(world, id)).toBe("requires_action");
    await world.customer(id, "confirm");
    expect(await hint(world, id)).toBe("done");
    expect(await status(world, id)).toBe("authorized");
    expect(world.gateway.calls.filter((call) => call === "authorize")).toHaveLength(1);
  });

  it("is found by the reconciler after a crash, and by an operator who looks", async () => {
    const world = await open();
    const lost = async () => {
      world.gateway.next("authorize", async (real) => {
        await real();
        return { outcome: "unknown", reason: "the process is gone" };
      });
      const idempotencyKey = parseIdempotencyKey(`order-${world.context.ids.nextId()}`);
      return (await world.begin({ ...wanted, idempotencyKey })).payment.facts.id;
    };
    const one = await lost();
    const other = await lost();
    expect((await world.observe(one)).observations[0]).toMatchObject({ result: "inconclusive" });
    expect(await status(world, one)).toBe("requires_action");
    world.clock.advance(6_000);
    await world.reconcile();
    expect(await status(world, other)).toBe("requires_action");
    expect(world.gateway.calls.filter((call) => call === "authorize")).toHaveLength(2);
  });

  it("is authorized when the hint comes before the answer of the authorization", async () => {
    const world = await open({ locks: new MemoryLockProvider() });
    const [answered, letAnswer] = [new Gate(), new Gate()];
    world.gateway.next("authorize", async (real) => {
      const answer = await real();
      letAnswer.open();
      await answered.passed;
      return answer;
    });
    const beginning = world.begin(wanted);
    await letAnswer.passed;
    const id = (await world.context.payments.findByAuthorizeKey(world.merchant, key)) as PaymentId;
    expect(await hint(world, id)).toBe("busy");
    answered.open();
    expect((await beginning).operation.status).toBe("requires_action");
    await world.customer(id, "confirm");
    expect(await hint(world, id)).toBe("done");
    expect(await status(world, id)).toBe("authorized");
  });

  it("does not forget the page when the answer of the send comes late and says nothing", async () => {
    const world = await open();
    const [arrived, answer] = [new Gate(), new Gate()];
    world.gateway.next("authorize", async (real) => {
      await real();
      arrived.open();
      await answer.passed;
      return { outcome: "unknown", reason: "timeout" };
    });
    const beginning = world.begin(wanted);
    await arrived.passed;
    const id = (await world.context.payments.findByAuthorizeKey(world.merchant, key)) as PaymentId;
    // Another instance asks meanwhile: without a lock, nothing keeps it from that.
    expect(await hint(world, id)).toBe("done");
    expect(await status(world, id)).toBe("requires_action");
    answer.open();
    expect((await beginning).operation.status).toBe("requires_action");
  });

  it("ends once when two instances find at once that it is over", async () => {
    const world = await open();
    const id = await sent(world);
    world.clock.advance(HOUR_MS);
    await Promise.all([world.reconcile(), world.reconcile()]);
    await world.reconcile();
    const types = await world.eventTypes(id);
    expect(types.filter((type) => type === "payment.expired")).toHaveLength(1);
    expect(types.filter((type) => type === "void.started")).toHaveLength(1);
    expect(await held(world, id)).toBe(0n);
  });

  it("is settled once when two instances are told that the customer has confirmed", async () => {
    const world = await open();
    const id = await sent(world);
    await world.customer(id, "confirm");
    await Promise.all([hint(world, id), world.observe(id)]);
    const types = await world.eventTypes(id);
    expect(types.filter((type) => type === "payment.authorized")).toHaveLength(1);
  });

  it("is asked about a few times at first, then every five minutes, and never sent again", async () => {
    const world = await open();
    await sent(world);
    for (let seconds = 0; seconds < 3_590; seconds += 5) {
      world.clock.advance(5_000);
      await world.reconcile();
    }
    const questions = world.gateway.calls.filter((call) => call === "find").length;
    expect(questions).toBeGreaterThan(10);
    expect(questions).toBeLessThan(20);
    expect(world.gateway.calls.filter((call) => call === "authorize")).toHaveLength(1);
  });

  it("keeps the address of the page out of its history", async () => {
    const world = await open();
    const id = await sent(world);
    const secret = secretIn((await world.payment(id)).facts.actionUrl ?? "");
    expect(JSON.stringify(await world.context.payments.events(id))).not.toContain(secret);
  });
});
