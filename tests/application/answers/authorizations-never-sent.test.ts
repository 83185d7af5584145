import { AuthorizePayment } from "../../../src/application/use-cases/authorize-payment";
import { parseIdempotencyKey } from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import { PaymentError } from "../../../src/domain/payment/errors";
import { parsePaymentId, type PaymentId } from "../../../src/domain/identifiers";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import type { PaymentsWorld } from "../../support/worlds/payments-world";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function authorize(world: PaymentsWorld) {
  return new AuthorizePayment(world.locks, world.context).execute(
    {
      idempotencyKey: parseIdempotencyKey("order-1"),
      amount: money(1_000n, parseCurrency("EUR")),
      paymentMethod: "tok_ok",
      reference: null,
      metadata: {},
      expiresInSeconds: 3_600,
    },
    world.caller(),
  );
}

/** A payment whose authorization did not reach the gateway. */
async function unsent(world: PaymentsWorld): Promise<PaymentId> {
  world.gateway.next("authorize", async () => ({ outcome: "not_sent", reason: "refused" }));
  const error: unknown = await authorize(world).catch((reason: unknown) => reason);
  if (!(error instanceof PaymentError)) throw error;
  return parsePaymentId(String((error.facts as { paymentId?: string }).paymentId));
}

describeOnEveryStore("an authorization that was never sent", (open) => {
  test("an authorization that was never sent ends with its time, and owes the gateway nothing", async () => {
    const world = await open();
    const id = await unsent(world);
    world.clock.advance(HOUR - 1);
    expect(await world.expire(0)).toMatchObject({ done: 0 });
    expect((await world.payment(id)).facts.status).toBe("authorizing");
    world.clock.advance(1);
    expect(await world.expire(0)).toEqual({ done: 1, skipped: 0, failed: 0 });
    const payment = await world.payment(id);
    expect(payment.facts.status).toBe("expired");
    expect(payment.facts.operations).toHaveLength(1);
    expect(await world.expire(0)).toMatchObject({ done: 0 });
    expect(world.gateway.calls).toEqual(["authorize"]);
  });

  test.each([
    ["after the sweeper has ended it", true],
    ["before the sweeper has come", false],
  ])("begins a new period when it is sent a hundred days later, %s", async (_when, swept) => {
    const world = await open();
    const id = await unsent(world);
    world.clock.advance(100 * DAY);
    if (swept) await world.expire();
    const { payment, operation } = await authorize(world);
    expect(operation.status).toBe("succeeded");
    expect(payment.facts.id).toBe(id);
    const { facts } = await world.payment(id);
    expect(facts.status).toBe("authorized");
    expect(facts.expiresAt).toEqual(new Date(world.clock.now().getTime() + HOUR));
    expect((await world.capture(id, "c")).operation.status).toBe("succeeded");
  });

  test("an authorization that was never sent is left alone while nobody knows whether it was sent", async () => {
    const world = await open();
    world.gateway.next("authorize", async () => ({ outcome: "unknown", reason: "timeout" }));
    const { payment } = await authorize(world);
    world.clock.advance(DAY);
    expect(await world.expire()).toMatchObject({ done: 0 });
    expect((await world.payment(payment.facts.id)).facts.status).toBe("authorizing");
  });
});

describeOnEveryStore("the history", (open) => {
  test("the history has as many entries as the schedule has steps, however often a caller repeats", async () => {
    const world = await open();
    const id = await world.authorize("tok_error_500_stored", 1_000n, 30 * 86_400);
    await world.capture(id, "k");
    for (let repetition = 0; repetition < 100; repetition += 1) {
      world.clock.advance(3_000);
      await world.capture(id, "k");
    }
    const types = await world.eventTypes(id);
    expect(world.gateway.calls.filter((call) => call === "find").length).toBe(100);
    // The first answer, and those of the looks that were due after 5 s, 30 s and 2 min.
    expect(types.filter((type) => type === "capture.unknown").length).toBe(4);
    expect(types.filter((type) => type === "capture.resent").length).toBeLessThanOrEqual(3);
  });
});
