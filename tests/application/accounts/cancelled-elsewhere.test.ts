import { startStripe, type StripeUnderTest } from "../../contracts/payment-gateways/stripe-gateway-harness";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";
import { parseIdempotencyKey, type PaymentId } from "../../../src/domain/identifiers";
import { endOf } from "../../../src/domain/payment/expiry";
import { publicPayment } from "../../../src/application/public-events/public-payment";

const CARD = "pm_card_visa";

describeOnEveryStore("an authorization that has ended at Stripe before it is captured", (open) => {
  let stripe: StripeUnderTest;
  let world: PaymentsWorld;
  beforeEach(async () => {
    world = await open();
    stripe = await startStripe();
    Object.assign(world.context, { gateway: stripe.gateway });
  });
  afterEach(() => stripe.stop());

  const referenceOf = async (id: PaymentId) => (await world.payment(id)).facts.authorizationReference ?? "";

  it("was cancelled in the dashboard: the capture is declined, and the payment is voided, by others", async () => {
    const id = await world.authorize(CARD, 700n);
    stripe.standIn.world.cancelInDashboard(await referenceOf(id));
    await expect(world.capture(id, "c")).rejects.toMatchObject({
      code: "capture_declined",
      message: expect.stringContaining("canceled: requested_by_customer"),
    });
    const { status, operations } = (await world.payment(id)).facts;
    expect(status).toBe("voided");
    expect(operations.map((one) => [one.kind, one.status, one.origin])).toEqual([
      ["authorize", "succeeded", "holdfast"],
      ["capture", "failed", "holdfast"],
      ["void", "succeeded", "gateway"],
    ]);
    expect(await codeOf(world.capture(id, "another"))).toBe("payment_not_capturable");
    await expect(world.capture(id, "c")).rejects.toMatchObject({ code: "capture_declined", replayed: true });
    // That it is looked at afterwards finds nothing new.
    await world.observe(id);
    expect((await world.payment(id)).facts.operations).toHaveLength(3);
    expect(await world.eventTypes(id)).toContain("payment.voided");
  });

  it("was cancelled while a capture's answer was lost: the payment is voided when it is asked about", async () => {
    const id = await world.authorize(CARD, 700n);
    stripe.standIn.arm("capture", "silent_before_acting");
    expect(await codeOf(world.capture(id, "c"))).toBe("unknown");
    stripe.standIn.world.cancelInDashboard(await referenceOf(id));
    await world.observe(id);
    const { status, operations } = (await world.payment(id)).facts;
    expect(status).toBe("voided");
    expect(operations.map((one) => [one.kind, one.status])).toEqual([
      ["authorize", "succeeded"],
      ["capture", "failed"],
      ["void", "succeeded"],
    ]);
  });

  it("was let go by Stripe itself: the payment expired, at no time that is still to come", async () => {
    const id = await world.authorize(CARD, 700n, 86_400);
    stripe.standIn.world.lapse(await referenceOf(id));
    await expect(world.capture(id, "c")).rejects.toMatchObject({
      code: "payment_expired",
      facts: { expiresAt: world.clock.now() },
    });
    const payment = await world.payment(id);
    expect(payment.facts.status).toBe("expired");
    expect(endOf(payment)).toEqual(world.clock.now());
    await expect(world.capture(id, "another")).rejects.toMatchObject({
      facts: { expiresAt: world.clock.now() },
    });
  });

  it("answers a repetition of the authorization as the first time, with the end that was promised then", async () => {
    const wanted = { idempotencyKey: parseIdempotencyKey("authorize"), paymentMethod: CARD };
    const first = await world.begin(wanted);
    const { id } = first.payment.facts;
    stripe.standIn.world.lapse(await referenceOf(id));
    expect(await codeOf(world.capture(id, "c"))).toBe("payment_expired");
    const again = await world.begin(wanted);
    expect(again.replayed).toBe(true);
    expect(publicPayment(again.payment)).toEqual(publicPayment(first.payment));
  });
});
