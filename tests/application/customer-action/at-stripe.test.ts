import type { PaymentId } from "../../../src/domain/identifiers";
import { visibleStatus } from "../../../src/domain/payment/payment";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { HintsWorld } from "../../support/worlds/hints/hints-world";
import { codeOf } from "../../support/worlds/payments-world";

const CARD = "pm_card_threeDSecure2Required";
const WEEK_SECONDS = 7 * 86_400;
const returnUrl = "https://shop.example/back";

let world: HintsWorld;
beforeEach(() => {
  world = new HintsWorld({ locks: new MemoryLockProvider() });
});

const begin = () => world.payments.begin({ paymentMethod: CARD, returnUrl, expiresInSeconds: WEEK_SECONDS });
const status = async (id: PaymentId) => visibleStatus(await world.payments.payment(id));
const intent = () => world.standIn.world.intents.get("pi_1");

async function hintAbout(type: string): Promise<readonly string[]> {
  return world.requestsOf(async () => {
    for (const event of world.events.filter((one) => one.type === type)) await world.deliver(event);
    await world.work.drain();
  });
}

it("a card at Stripe that wants its owner sends the customer to their bank's page", async () => {
  const { operation, payment } = await begin();
  expect(operation.status).toBe("requires_action");
  expect(payment.facts).toMatchObject({
    actionUrl: "https://hooks.stripe.com/3d_secure_2/pi_1",
    authorizationReference: "pi_1",
  });
  expect(intent()?.next_action?.redirect_to_url?.return_url).toBe(returnUrl);
});

it("Stripe's event about a confirmed intent authorizes the payment, and sends nothing", async () => {
  const { id } = (await begin()).payment.facts;
  world.standIn.world.authenticate("pi_1", "confirms");
  const requests = await hintAbout("payment_intent.amount_capturable_updated");
  expect(requests.some((request) => request.startsWith("POST"))).toBe(false);
  expect(await status(id)).toBe("authorized");
  expect(world.outcomes).toEqual(["done"]);
  expect(await codeOf(world.payments.capture(id, "c"))).toBe("succeeded");
});

it("Stripe's event about a failed authentication declines the payment with Stripe's reason", async () => {
  const { id } = (await begin()).payment.facts;
  world.standIn.world.authenticate("pi_1", "fails");
  await hintAbout("payment_intent.payment_failed");
  const { operations } = (await world.payments.payment(id)).facts;
  expect(await status(id)).toBe("declined");
  expect(operations[0]?.failureReason).toBe("payment_intent_authentication_failure");
});

it("an intent that is cancelled in Stripe's dashboard while the customer is at the page declines the payment", async () => {
  const { id } = (await begin()).payment.facts;
  world.standIn.world.cancel("pi_1", new URLSearchParams({ cancellation_reason: "abandoned" }));
  await hintAbout("payment_intent.canceled");
  expect(await status(id)).toBe("declined");
});

it("Stripe's event about the customer's action itself leaves the payment waiting, and is done with", async () => {
  const { id } = (await begin()).payment.facts;
  await hintAbout("payment_intent.requires_action");
  expect(await status(id)).toBe("requires_action");
  expect(world.outcomes).toEqual(["done"]);
});

it("an authorization whose answer was lost is waiting as soon as Stripe's event has come", async () => {
  world.standIn.arm("authorize", "silent_after_acting");
  const { payment } = await begin();
  expect(await status(payment.facts.id)).toBe("authorizing");
  await hintAbout("payment_intent.requires_action");
  expect(await status(payment.facts.id)).toBe("requires_action");
  expect(world.standIn.world.intents.size).toBe(1);
});

it("a payment at Stripe that its customer leaves alone expires, and its intent is cancelled", async () => {
  const { id } = (await begin()).payment.facts;
  world.payments.clock.advance(3_600_000);
  await world.payments.reconcile();
  expect(await status(id)).toBe("expired");
  expect(intent()?.status).toBe("canceled");
});

it("a customer who confirms at Stripe when the payment has just expired leaves no money held", async () => {
  const { id } = (await begin()).payment.facts;
  world.payments.clock.advance(3_600_000);
  world.standIn.arm("void", "silent_before_acting");
  await world.payments.reconcile();
  expect(await status(id)).toBe("expired");
  world.standIn.world.authenticate("pi_1", "confirms");
  await hintAbout("payment_intent.amount_capturable_updated");
  expect(intent()?.status).toBe("requires_capture");
  world.payments.clock.advance(10_000);
  await world.payments.reconcile();
  expect(intent()?.status).toBe("canceled");
  expect(await world.payments.context.payments.countInReview()).toBe(0);
});

it("a void cancels the intent at Stripe that the customer has not confirmed", async () => {
  const { id } = (await begin()).payment.facts;
  expect(await codeOf(world.payments.void(id, "v"))).toBe("succeeded");
  expect(intent()).toMatchObject({ status: "canceled", next_action: null });
  expect(await status(id)).toBe("voided");
});

it("without a return URL, a card at Stripe that wants its owner is declined, and Holdfast says what to send", async () => {
  await expect(world.payments.begin({ paymentMethod: CARD })).rejects.toMatchObject({
    code: "authorization_declined",
    facts: { reason: "authentication_required" },
    message: expect.stringContaining("returnUrl"),
  });
  expect(intent()?.status).toBe("requires_payment_method");
});

it("an action at Stripe that is no page to go to is brought before a person", async () => {
  const { id } = (await begin()).payment.facts;
  Object.assign(intent()!, { next_action: { type: "display_bank_transfer_instructions" } });
  world.payments.clock.advance(31_000);
  await world.payments.reconcile();
  const [operation] = (await world.payments.payment(id)).facts.operations;
  expect(operation?.status).toBe("needs_review");
});
