import { restored } from "../../../src/domain/payment/restored";
import { parseIdempotencyKey, type PaymentId } from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import { amountRefunded } from "../../../src/domain/payment/payment";
import { AuthorizePayment } from "../../../src/application/use-cases/authorize-payment";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { startStripe, type StripeUnderTest } from "../../contracts/payment-gateways/stripe-gateway-harness";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

/** Keeps payments as a Holdfast did that took the forint for a currency without a minor unit. */
class OlderRepository extends InMemoryPaymentRepository {
  older = false;

  override async find(id: PaymentId) {
    const found = await super.find(id);
    if (found === null || !this.older) return found;
    const { facts } = found.payment;
    return { ...found, payment: restored({ ...facts, amount: { ...facts.amount, exponent: 0 } }) };
  }
}

class ForintWorld extends PaymentsWorld {
  constructor(
    stripe: StripeUnderTest,
    readonly store = new OlderRepository(),
  ) {
    super({ payments: store });
    Object.assign(this.context, { gateway: stripe.gateway });
  }

  async authorizeForints(): Promise<PaymentId> {
    const { payment } = await new AuthorizePayment(this.locks, this.context).execute(
      {
        idempotencyKey: parseIdempotencyKey("order"),
        amount: money(1_000_000n, parseCurrency("HUF")),
        paymentMethod: "pm_card_visa",
        reference: null,
        metadata: {},
        expiresInSeconds: 86_400,
      },
      this.caller(),
    );
    return payment.facts.id;
  }
}

describe("a payment that was stored with another exponent than today's, at Stripe", () => {
  let stripe: StripeUnderTest;
  let world: ForintWorld;
  let id: PaymentId;
  const moved = () => stripe.standIn.world.moves.map(({ kind, amount }) => `${kind} ${amount}`);
  beforeEach(async () => {
    stripe = await startStripe();
    world = new ForintWorld(stripe);
    id = await world.authorizeForints();
  });
  afterEach(() => stripe.stop());

  test("a payment that was stored with another exponent than today's, at Stripe is refunded nothing, rather than a hundredfold or a hundredth", async () => {
    await world.capture(id, "c");
    world.store.older = true;
    expect(await codeOf(world.refund(id, "r", { amount: 10_000n }))).toBe("refund_declined");
    expect(await codeOf(world.refund(id, "r", { amount: 10_000n }))).toBe("refund_declined");
    expect(moved()).toEqual(["authorize 1000000", "capture 1000000"]);
    expect(amountRefunded(await world.payment(id))).toBe(0n);
  });

  test("a payment that was stored with another exponent than today's, at Stripe is not captured, and can be let go", async () => {
    world.store.older = true;
    expect(await codeOf(world.capture(id, "c"))).toBe("capture_declined");
    expect(await codeOf(world.void(id, "v"))).toBe("succeeded");
    expect(moved()).toEqual(["authorize 1000000", "void 1000000"]);
  });

  test("a payment that was stored with another exponent than today's, at Stripe is a person's to look at if something may have moved already, and is not sent again", async () => {
    stripe.standIn.arm("capture", "silent_after_acting");
    expect(await codeOf(world.capture(id, "c"))).toBe("unknown");
    world.store.older = true;
    world.clock.advance(5_000);
    expect(await codeOf(world.capture(id, "c"))).toBe("needs_review");
    expect(moved()).toEqual(["authorize 1000000", "capture 1000000"]);
    const sent = stripe.standIn.requests.filter((request) => request.endsWith("/capture"));
    expect(sent).toHaveLength(1);
  });
});
