import type { PaymentId } from "../../../src/domain/identifiers";
import { GatewayUnavailableError } from "../../../src/application/ports/gateway-events/gateway-event-source";
import { HintsWorld } from "../../support/worlds/hints/hints-world";

const CARD = "pm_card_visa";
const EVERY_MS = 300_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let world: HintsWorld;
beforeEach(() => {
  world = new HintsWorld();
});

const refundsOf = async (id: PaymentId) =>
  (await world.operationsOf(id)).filter((operation) => operation.startsWith("refund"));
/** As the server does it, every few seconds. */
const catchUp = async () => {
  const report = await world.catchUp.execute(EVERY_MS);
  await world.work.drain();
  return report.done;
};
const sinceOfRequests = () => jest.spyOn(world.gateway.eventList, "page");

describe("without webhooks", () => {
  it("a day of events is caught up: captures are settled, and refunds that failed are corrected", async () => {
    await catchUp();
    const day: { readonly lost: PaymentId; readonly refunded: PaymentId }[] = [];
    for (let hour = 0; hour < 24; hour += 1) {
      const lost = await world.payments.authorize(CARD, 1_000n, 30 * 86_400);
      world.standIn.arm("capture", "silent_after_acting");
      await world.payments.capture(lost, `c${hour}`);
      const refunded = await world.payments.captured(CARD);
      world.standIn.arm("refund", "fails_later");
      await world.payments.refund(refunded, `r${hour}`);
      day.push({ lost, refunded });
      world.payments.clock.advance(HOUR_MS / 2);
      world.standIn.timePasses();
      world.payments.clock.advance(HOUR_MS / 2);
    }
    expect(await world.statusOf(day[0]!.lost)).toBe("authorized");
    const requests = await world.requestsOf(catchUp);
    for (const { lost, refunded } of day) {
      expect(await world.statusOf(lost)).toBe("captured");
      expect(await refundsOf(refunded)).toEqual(["refund failed"]);
    }
    expect(requests.filter((request) => request.startsWith("POST"))).toEqual([]);
    expect(requests.filter((request) => request === "GET /v1/events").length).toBeGreaterThan(1);
    expect((await world.hints.backlog()).waiting).toBe(0);
  });

  it("the list is read every five minutes, and not more often, however often it is looked", async () => {
    const looks: boolean[] = [];
    for (let seconds = 0; seconds < 900; seconds += 10) {
      const requests = await world.requestsOf(catchUp);
      looks.push(requests.length > 0);
      world.payments.clock.advance(10_000);
    }
    expect(looks.filter((isRead) => isRead)).toHaveLength(3);
  });

  it("what appears late in the list, with an earlier time, is found in the overlap", async () => {
    const id = await world.payments.captured(CARD);
    world.standIn.arm("refund", "fails_later");
    await world.payments.refund(id, "r");
    const { events } = world.standIn.world;
    const failedAt = world.payments.clock.now().getTime();
    world.payments.clock.advance(5 * MINUTE_MS);
    const other = await world.payments.captured(CARD);
    await catchUp();
    expect(await world.statusOf(other)).toBe("captured");
    // It has happened before what was seen last.
    events.now = () => failedAt;
    world.standIn.timePasses();
    world.payments.clock.advance(EVERY_MS);
    await catchUp();
    expect(await refundsOf(id)).toEqual(["refund failed"]);
  });

  it("what is read again because of the overlap is asked about once", async () => {
    await world.payments.captured(CARD);
    expect(await catchUp()).toBeGreaterThan(0);
    world.payments.clock.advance(EVERY_MS);
    const requests = await world.requestsOf(catchUp);
    expect(requests).toEqual(["GET /v1/events"]);
  });

  it("a list that breaks off is read again from where the one before had begun", async () => {
    for (let n = 0; n < 150; n += 1)
      world.standIn.world.events.record("payment_intent.succeeded", {
        object: "payment_intent",
        id: `pi_${n}`,
      });
    const page = world.gateway.eventList.page.bind(world.gateway.eventList);
    const read = sinceOfRequests();
    read.mockImplementationOnce(page);
    read.mockRejectedValueOnce(new GatewayUnavailableError("down"));
    await expect(world.catchUp.execute(EVERY_MS)).rejects.toThrow("down");
    expect((await world.hints.backlog()).waiting).toBe(100);
    const begun = read.mock.calls[0]![0].since;
    world.payments.clock.advance(EVERY_MS);
    expect(await world.catchUp.execute(EVERY_MS)).toMatchObject({ done: 50 });
    expect(read.mock.calls[2]![0].since.getTime()).toBeLessThanOrEqual(begun.getTime() + EVERY_MS);
    expect((await world.hints.backlog()).waiting).toBe(150);
  });

  it("a server that stops while it reads goes on from the same place, too", async () => {
    for (let n = 0; n < 150; n += 1)
      world.standIn.world.events.record("payment_intent.succeeded", {
        object: "payment_intent",
        id: `pi_${n}`,
      });
    const stopping = new AbortController();
    stopping.abort();
    expect(await world.catchUp.execute(EVERY_MS, stopping.signal)).toMatchObject({ done: 100 });
    world.payments.clock.advance(EVERY_MS);
    expect(await world.catchUp.execute(EVERY_MS)).toMatchObject({ done: 50 });
  });

  it("goes on from the newest event it has seen, by Stripe's clock and not by this server's", async () => {
    const { events } = world.standIn.world;
    const stripesMs = world.payments.clock.now().getTime() - 20 * MINUTE_MS;
    events.now = () => stripesMs;
    events.record("payment_intent.succeeded", { object: "payment_intent", id: "pi_1" });
    await catchUp();
    world.payments.clock.advance(EVERY_MS);
    const read = sinceOfRequests();
    await catchUp();
    const since = read.mock.calls[0]![0].since.getTime();
    expect(since).toBe(Math.floor(stripesMs / 1_000) * 1_000 - 10 * MINUTE_MS);
  });

  it("goes back no further than Stripe keeps events", async () => {
    await world.hints.caughtUp(new Date(world.payments.clock.now().getTime() - 90 * DAY_MS));
    const read = sinceOfRequests();
    await catchUp();
    expect(read.mock.calls[0]![0].since.getTime()).toBe(world.payments.clock.now().getTime() - 30 * DAY_MS);
  });
});
