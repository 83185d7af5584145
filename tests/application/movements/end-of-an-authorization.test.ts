import { AuthorizePayment } from "../../../src/application/use-cases/authorize-payment";
import { parseIdempotencyKey, type PaymentId } from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import { startStripe, type StripeUnderTest } from "../../contracts/payment-gateways/stripe-gateway-harness";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

const HOUR_MS = 3_600_000;

let stripe: StripeUnderTest;
let world: PaymentsWorld;
beforeEach(async () => {
  stripe = await startStripe();
  world = new PaymentsWorld();
  Object.assign(world.context, { gateway: stripe.gateway });
});
afterEach(() => stripe.stop());

const inHours = (hours: number) => new Date(world.clock.now().getTime() + hours * HOUR_MS);

/** For a week, at a gateway that keeps the money for so many hours. */
async function authorizeForAWeek(hours: number): Promise<PaymentId> {
  stripe.standIn.world.captureBefore = inHours(hours).getTime() / 1_000;
  const { payment } = await new AuthorizePayment(world.locks, world.context).execute(
    {
      idempotencyKey: parseIdempotencyKey("order"),
      amount: money(5_000n, parseCurrency("EUR")),
      paymentMethod: "pm_card_visa",
      reference: null,
      metadata: {},
      expiresInSeconds: 168 * 3_600,
    },
    world.caller(),
  );
  return payment.facts.id;
}

describe("an authorization that Stripe keeps for less time than was asked for", () => {
  test("an authorization that Stripe keeps for less time than was asked for ends when Stripe lets it go, and its history says so", async () => {
    const [end, week] = [inHours(1), inHours(168)];
    const id = await authorizeForAWeek(1);
    expect((await world.payment(id)).facts).toMatchObject({ status: "authorized", expiresAt: end });
    const events = (await world.context.payments.events(id)) ?? [];
    expect(events.find(({ type }) => type === "payment.expiry_shortened")?.data).toMatchObject({
      wanted: week.toISOString(),
      expiresAt: end.toISOString(),
      gateway: { asked: "authorize", answer: "succeeded", expiresAt: end.toISOString() },
    });
    world.clock.advance(HOUR_MS);
    expect(await codeOf(world.capture(id, "c"))).toBe("payment_expired");
    expect((await world.payment(id)).facts.status).toBe("expired");
  });

  test("an authorization that Stripe keeps for less time than was asked for also if Stripe's answer was lost and the authorization was found", async () => {
    const end = inHours(1);
    stripe.standIn.arm("authorize", "silent_after_acting");
    const id = await authorizeForAWeek(1);
    expect((await world.payment(id)).facts.status).toBe("authorizing");
    world.clock.advance(10_000);
    await world.reconcile();
    expect((await world.payment(id)).facts).toMatchObject({ status: "authorized", expiresAt: end });
    expect(await world.eventTypes(id)).toContain("payment.expiry_shortened");
  });
});

test("an authorization that Stripe keeps for longer ends when the caller said", async () => {
  const week = inHours(168);
  const id = await authorizeForAWeek(200);
  expect((await world.payment(id)).facts.expiresAt).toEqual(week);
  expect(await world.eventTypes(id)).not.toContain("payment.expiry_shortened");
});
