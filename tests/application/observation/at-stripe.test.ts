import { AuthorizePayment } from "../../../src/application/use-cases/authorize-payment";
import { EXPIRY_GRACE_MS } from "../../../src/application/use-cases/expire-authorizations";
import { parseIdempotencyKey, type PaymentId } from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import { visibleStatus } from "../../../src/domain/payment/payment";
import { startStripe, type StripeUnderTest } from "../../contracts/payment-gateways/stripe-gateway-harness";
import { figuresOf } from "../../support/worlds/payments";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";

const HOUR = 3_600_000;

describeOnEveryStore("a payment at Stripe that others use, too", (open) => {
  let stripe: StripeUnderTest;
  beforeEach(async () => {
    stripe = await startStripe();
  });
  afterEach(() => stripe.stop());

  async function authorized(): Promise<{ world: PaymentsWorld; id: PaymentId; intent: string }> {
    const world = await open();
    Object.assign(world.context, { gateway: stripe.gateway });
    const { payment } = await new AuthorizePayment(world.locks, world.context).execute(
      {
        idempotencyKey: parseIdempotencyKey("order"),
        amount: money(5_000n, parseCurrency("EUR")),
        paymentMethod: "pm_card_visa",
        reference: null,
        metadata: {},
        expiresInSeconds: 3_600,
      },
      world.caller(),
    );
    const { id, authorizationReference } = payment.facts;
    return { world, id, intent: authorizationReference ?? "" };
  }

  /** Observes twice: the second time nothing changes, and no time anything but questions is sent. */
  async function observed(world: PaymentsWorld, id: PaymentId): Promise<void> {
    const { requests, world: moved } = stripe.standIn;
    const sent = requests.length;
    const moves = moved.moves.length;
    await world.observe(id);
    const after = await world.context.payments.find(id);
    await world.observe(id);
    expect(await world.context.payments.find(id)).toEqual(after);
    expect(requests.slice(sent).every((line) => line.startsWith("GET "))).toBe(true);
    expect(moved.moves).toHaveLength(moves);
  }

  test("a payment captured in the dashboard before its time was over, does not stay expired with releases in vain", async () => {
    const { world, id, intent } = await authorized();
    stripe.standIn.world.captureInDashboard(intent);
    world.clock.advance(HOUR + EXPIRY_GRACE_MS);
    await world.expire();
    for (let pass = 0; pass < 240; pass += 1) {
      world.clock.advance(6 * HOUR);
      await world.reconcile();
    }
    expect(world.errors).toEqual([]);
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 5_000n,
      openOperation: undefined,
    });
    expect(await world.context.payments.countInReview()).toBe(0);
    expect(stripe.standIn.requests.filter((line) => line.endsWith("/cancel"))).toHaveLength(1);
    expect(await codeOf(world.refund(id, "r"))).toBe("succeeded");
  });

  test("a payment captured in the dashboard while our own capture was lost: ours goes before a person, and the money is counted once", async () => {
    const { world, id, intent } = await authorized();
    stripe.standIn.arm("capture", "silent_before_acting");
    expect((await world.capture(id, "c")).operation.status).toBe("unknown");
    stripe.standIn.world.captureInDashboard(intent);
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "capturing",
      amountCaptured: 0n,
    });
    const ours = (await world.payment(id)).facts.operations.at(-1)!;
    expect(ours.status).toBe("needs_review");
    await world.review(ours.id, { outcome: "not_moved" });
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 5_000n,
    });
    await observed(world, id);
  });

  test("a payment captured in the dashboard, and by a person's word that is our capture: it is not doubted again", async () => {
    const { world, id, intent } = await authorized();
    stripe.standIn.arm("capture", "silent_before_acting");
    await world.capture(id, "c");
    stripe.standIn.world.captureInDashboard(intent);
    await observed(world, id);
    await world.review((await world.payment(id)).facts.operations.at(-1)!.id, { outcome: "moved" });
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 5_000n,
    });
    expect(await world.context.payments.countInReview()).toBe(0);
  });

  test.each(["not_moved", "moved against Stripe"])(
    "a payment captured in the dashboard, by another amount than ours: %s is what it stays, and nothing else is doubted",
    async (verdict) => {
      const { world, id, intent } = await authorized();
      stripe.standIn.arm("capture", "silent_before_acting");
      await world.capture(id, "c", { amount: 1_200n });
      stripe.standIn.world.captureInDashboard(intent);
      await observed(world, id);
      const ours = (await world.payment(id)).facts.operations.at(-1)!.id;
      expect(await codeOf(world.review(ours, { outcome: "moved" }))).toBe("review_contradicts_gateway");
      const isOverridden = verdict !== "not_moved";
      await (isOverridden
        ? world.review(ours, { outcome: "moved", overrideReason: "their support says so" })
        : world.review(ours, { outcome: "not_moved" }));
      await observed(world, id);
      expect(figuresOf(await world.payment(id))).toMatchObject({
        visibleStatus: "captured",
        amountCaptured: isOverridden ? 1_200n : 5_000n,
        openOperation: undefined,
      });
      expect(await world.context.payments.countInReview()).toBe(0);
    },
  );

  test("a payment captured by us with a lost answer, is settled by one observation", async () => {
    const { world, id } = await authorized();
    stripe.standIn.arm("capture", "silent_after_acting");
    expect((await world.capture(id, "c", { amount: 1_200n })).operation.status).toBe("unknown");
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 1_200n,
    });
  });

  test("a payment cancelled in the dashboard, is voided", async () => {
    const { world, id, intent } = await authorized();
    stripe.standIn.world.cancelInDashboard(intent);
    await observed(world, id);
    expect(visibleStatus(await world.payment(id))).toBe("voided");
  });

  test("a payment let go by Stripe itself, is expired without a release", async () => {
    const { world, id, intent } = await authorized();
    stripe.standIn.world.lapse(intent);
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "expired",
      openOperation: undefined,
    });
  });

  test("a payment refunded in the dashboard, counts that refund, and takes it back when it fails there", async () => {
    const { world, id, intent } = await authorized();
    await world.capture(id, "c");
    await world.refund(id, "r", { amount: 1_000n });
    const refund = stripe.standIn.world.refundInDashboard(intent, 1_500);
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountRefunded: 2_500n });
    expect(await codeOf(world.refund(id, "r2", { amount: 2_600n }))).toBe("amount_exceeds_captured");
    Object.assign(refund ?? {}, { status: "failed", failure_reason: "lost_or_stolen_card" });
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountRefunded: 1_000n });
  });

  test("a payment disputed by the customer, shows the dispute as it goes on", async () => {
    const { world, id, intent } = await authorized();
    await world.capture(id, "c", { amount: 4_000n });
    const dispute = stripe.standIn.world.dispute(intent);
    await observed(world, id);
    const due = new Date(stripe.standIn.world.captureBefore * 1_000);
    const shown = { id: "du_1", amount: 4_000n, reason: "fraudulent" };
    expect((await world.payment(id)).facts.disputes).toEqual([
      { ...shown, status: "needs_response", dueBy: due },
    ]);
    Object.assign(dispute ?? {}, { status: "won", evidence_details: { due_by: null } });
    await observed(world, id);
    expect((await world.payment(id)).facts.disputes).toEqual([{ ...shown, status: "won", dueBy: null }]);
    const told = (await world.eventTypes(id)).filter((type) => type.startsWith("dispute."));
    expect(told).toEqual(["dispute.opened", "dispute.closed"]);
  });

  test.each([
    "silent_before_acting",
    "proxy_page_after_acting",
    "unauthorized",
    "error_before_acting",
  ] as const)("a payment stays as it is when Stripe's view of it cannot be had: %s", async (fault) => {
    const { world, id, intent } = await authorized();
    stripe.standIn.world.captureInDashboard(intent);
    const before = await world.context.payments.find(id);
    stripe.standIn.arm("read", fault, fault);
    await world.observe(id);
    expect(await world.context.payments.find(id)).toEqual(before);
    stripe.standIn.armed.clear();
    await observed(world, id);
    expect(visibleStatus(await world.payment(id))).toBe("captured");
  });
});
