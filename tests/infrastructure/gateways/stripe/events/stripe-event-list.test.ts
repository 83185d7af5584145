import { GatewayUnavailableError } from "../../../../../src/application/ports/gateway-events/gateway-event-source";
import {
  startStripe,
  type StripeUnderTest,
} from "../../../../contracts/payment-gateways/stripe-gateway-harness";

let stripe: StripeUnderTest;
beforeEach(async () => {
  stripe = await startStripe();
});
afterEach(() => stripe.stop());

const LONG_AGO = new Date(0);
const page = (since = LONG_AGO, after: string | null = null) =>
  stripe.gateway.eventList.page({ since, after, timeoutMs: 5_000 });
const record = (count: number, type = "payment_intent.succeeded") => {
  for (let n = 0; n < count; n += 1)
    stripe.standIn.world.events.record(type, { object: "payment_intent", id: `pi_${n}`, metadata: {} });
};

it("Stripe's list of events is read page by page, the newest first, each event once", async () => {
  record(250);
  const first = await page();
  expect([first.events, first.hints.length, first.hints[0]?.eventId]).toEqual([100, 100, "evt_250"]);
  const second = await page(LONG_AGO, first.next);
  const third = await page(LONG_AGO, second.next);
  expect(third.next).toBeNull();
  const ids = [first, second, third].flatMap(({ hints }) => hints.map(({ eventId }) => eventId));
  expect(new Set(ids).size).toBe(250);
});

it("Stripe's list of events since a time has that second and what came after it", async () => {
  const { events } = stripe.standIn.world;
  for (const at of [1_000_000, 2_000_000, 3_000_000]) {
    events.now = () => at;
    record(1);
  }
  const { hints, newestAt } = await page(new Date(2_000_000));
  expect(hints.map(({ eventId }) => eventId)).toEqual(["evt_3", "evt_2"]);
  expect(newestAt).toEqual(new Date(3_000_000));
});

it("Stripe's list of events is asked for the types alone that can be about payments", async () => {
  record(1, "customer.created");
  record(1);
  expect((await page()).events).toBe(1);
});

it("Stripe's list of events is empty where nothing happened", async () => {
  expect(await page()).toEqual({ events: 0, hints: [], newestAt: null, next: null });
});

it.each(["unauthorized", "rate_limited", "error_before_acting", "reset_before_acting"] as const)(
  "Stripe's list of events that cannot be had (%s) is no empty list",
  async (fault) => {
    stripe.standIn.arm("read", fault);
    await expect(page()).rejects.toThrow(GatewayUnavailableError);
  },
);

it.each(["proxy_page_after_acting", "empty_object_after_acting", "null_after_acting"] as const)(
  "an answer that is no list of events (%s) is no empty list",
  async (fault) => {
    stripe.standIn.arm("read", fault);
    await expect(page()).rejects.toThrow(GatewayUnavailableError);
  },
);

it("a list of events none of which is one is no empty list", async () => {
  stripe.standIn.world.events.all.push({
    nonsense: true,
    created: 5,
    type: "payment_intent.succeeded",
  } as never);
  await expect(page()).rejects.toThrow("makes no sense");
});
