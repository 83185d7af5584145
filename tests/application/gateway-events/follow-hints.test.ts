import { PaymentError } from "../../../src/domain/payment/errors";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import type { StripeEvent } from "../../support/stripe-stand-in/stripe-events";
import { HintsWorld } from "../../support/worlds/hints/hints-world";

const CARD = "pm_card_visa";
const DAY_MS = 86_400_000;

let world: HintsWorld;
beforeEach(() => {
  world = new HintsWorld({ locks: new MemoryLockProvider() });
});

const eventsOfType = (type: string) => world.events.filter((event) => event.type === type);
const moneyMoves = (requests: readonly string[]) => requests.filter((request) => request.startsWith("POST"));

async function deliverAll(events: readonly StripeEvent[] = world.events): Promise<void> {
  for (const event of events) await world.deliver(event);
}

describe("a hint", () => {
  it("settles an unknown capture at once, by asking and not by sending", async () => {
    const id = await world.payments.authorize(CARD);
    world.standIn.arm("capture", "silent_after_acting");
    await world.payments.capture(id, "c");
    expect(await world.operationsOf(id)).toEqual(["authorize succeeded", "capture unknown"]);
    await deliverAll();
    const requests = await world.requestsOf(() => world.work.drain());
    expect(moneyMoves(requests)).toEqual([]);
    expect(await world.statusOf(id)).toBe("captured");
    const events = await world.payments.context.payments.events(id);
    expect(events?.find(({ type }) => type === "capture.succeeded")?.data["by"]).toEqual({
      gatewayEvent: true,
    });
  });

  it("settles an authorization whose reference never arrived, by the label that it was made with", async () => {
    world.standIn.arm("authorize", "silent_after_acting");
    const id = await world.payments.authorize(CARD);
    expect(await world.operationsOf(id)).toEqual(["authorize unknown"]);
    await deliverAll();
    await world.work.drain();
    expect(await world.statusOf(id)).toBe("authorized");
  });

  it("settles what Stripe has taken and decides later, at once and without sending", async () => {
    const id = await world.payments.authorize(CARD);
    world.standIn.arm("capture", "undecided");
    await world.payments.capture(id, "c");
    expect(await world.operationsOf(id)).toEqual(["authorize succeeded", "capture pending"]);
    await deliverAll();
    await world.work.drain();
    expect(await world.operationsOf(id)).toEqual(["authorize succeeded", "capture pending"]);
    world.standIn.timePasses();
    await deliverAll(eventsOfType("payment_intent.succeeded"));
    const requests = await world.requestsOf(() => world.work.drain());
    expect(moneyMoves(requests)).toEqual([]);
    expect(await world.operationsOf(id)).toEqual(["authorize succeeded", "capture succeeded"]);
  });

  it("settles an authorization that Stripe has decided about later", async () => {
    world.standIn.arm("authorize", "undecided_then_refused");
    const id = await world.payments.authorize(CARD);
    expect(await world.operationsOf(id)).toEqual(["authorize pending"]);
    world.standIn.timePasses();
    await deliverAll(eventsOfType("payment_intent.payment_failed"));
    await world.work.drain();
    expect(await world.statusOf(id)).toBe("declined");
  });

  it("tells of a pending refund that has failed, and another key refunds again", async () => {
    const id = await world.payments.captured(CARD);
    world.standIn.arm("refund", "undecided_then_refused");
    await world.payments.refund(id, "r");
    const [refund] = world.standIn.world.refunds;
    // It waits for the customer, as refunds of some payment methods do.
    refund!.status = "requires_action";
    world.payments.clock.advance(3_000);
    expect((await world.payments.refund(id, "r")).operation).toMatchObject({
      status: "pending",
      gatewayReference: refund!.id,
    });
    world.standIn.timePasses();
    await deliverAll(eventsOfType("refund.failed"));
    const requests = await world.requestsOf(() => world.work.drain());
    expect(moneyMoves(requests)).toEqual([]);
    expect(await world.operationsOf(id)).toEqual([
      "authorize succeeded",
      "capture succeeded",
      "refund failed",
    ]);
    expect((await world.payments.refund(id, "r2")).operation.status).toBe("succeeded");
  });

  it("corrects a refund that has failed after it had succeeded", async () => {
    const id = await world.payments.captured(CARD);
    world.standIn.arm("refund", "fails_later");
    await world.payments.refund(id, "r");
    world.standIn.timePasses();
    await deliverAll(eventsOfType("refund.failed"));
    const requests = await world.requestsOf(() => world.work.drain());
    expect(moneyMoves(requests)).toEqual([]);
    expect(await world.operationsOf(id)).toEqual([
      "authorize succeeded",
      "capture succeeded",
      "refund failed",
    ]);
  });

  it("shows a dispute, and what others have refunded in the dashboard", async () => {
    const id = await world.payments.captured(CARD);
    const { authorizationReference } = (await world.payments.payment(id)).facts;
    world.standIn.world.dispute(authorizationReference ?? "");
    await deliverAll(eventsOfType("charge.dispute.created"));
    await world.work.drain();
    expect((await world.payments.payment(id)).facts.disputes).toMatchObject([{ status: "needs_response" }]);
    world.standIn.world.refundInDashboard(authorizationReference ?? "", 250);
    await deliverAll(eventsOfType("refund.created"));
    await world.work.drain();
    expect(await world.operationsOf(id)).toContain("refund succeeded");
  });

  it("of what nobody did never sends a key again, nor uses up the schedule, however often it comes", async () => {
    const id = await world.payments.authorize(CARD);
    world.standIn.arm("capture", "silent_before_acting");
    await world.payments.capture(id, "c");
    const before = await world.payments.payment(id);
    const [event] = world.events;
    for (let n = 0; n < 20; n += 1) {
      await world.deliver({ ...event, id: `evt_again_${n}` });
      const requests = await world.requestsOf(() => world.work.drain());
      expect(requests.length).toBeGreaterThan(0);
      expect(moneyMoves(requests)).toEqual([]);
      world.payments.clock.advance(60_000);
    }
    expect((await world.payments.payment(id)).facts).toEqual(before.facts);
  });

  it("leaves an operation that Stripe has not decided as it is", async () => {
    const id = await world.payments.captured(CARD);
    world.standIn.arm("refund", "undecided");
    await world.payments.refund(id, "r");
    const before = await world.payments.payment(id);
    await deliverAll();
    await world.work.drain();
    expect((await world.payments.payment(id)).facts).toEqual(before.facts);
    world.standIn.timePasses();
    await deliverAll();
    await world.work.drain();
    expect(await world.operationsOf(id)).toContain("refund succeeded");
  });

  it("ends a review when Stripe says what became of it", async () => {
    const id = await world.payments.authorize(CARD);
    world.standIn.arm("capture", "lands_late");
    await world.payments.capture(id, "c");
    world.standIn.arm("capture", ...Array.from({ length: 10 }, () => "silent_before_acting" as const));
    for (let n = 0; n < 8; n += 1) {
      world.payments.clock.advance(8 * 3_600_000);
      await world.payments.reconcile();
    }
    expect(await world.operationsOf(id)).toEqual(["authorize succeeded", "capture needs_review"]);
    world.standIn.timePasses();
    await deliverAll(eventsOfType("payment_intent.succeeded"));
    await world.work.drain();
    expect(await world.operationsOf(id)).toEqual(["authorize succeeded", "capture succeeded"]);
  });

  it("says nothing that gets into the payment: an event full of lies ends where asking ends", async () => {
    const id = await world.payments.authorize(CARD);
    const before = await world.payments.payment(id);
    const { authorizationReference: intent } = before.facts;
    const lies = {
      status: "succeeded",
      amount: 1,
      amount_received: 1,
      currency: "xts",
      latest_charge: "ch_lie",
    };
    await world.deliver({
      ...world.events[0],
      id: "evt_lie",
      type: "payment_intent.succeeded",
      data: { object: { object: "payment_intent", id: intent, metadata: { holdfast_payment: id }, ...lies } },
    });
    await world.work.drain();
    expect(world.outcomes).toEqual(["done"]);
    expect((await world.payments.payment(id)).facts).toEqual(before.facts);
  });

  it("about a label that belongs to another payment only asks about that payment", async () => {
    const id = await world.payments.captured(CARD);
    const before = await world.payments.payment(id);
    await world.deliver({
      ...world.events[0],
      id: "evt_other",
      data: {
        object: { object: "payment_intent", id: "pi_of_somebody", metadata: { holdfast_payment: id } },
      },
    });
    await world.work.drain();
    expect((await world.payments.payment(id)).facts).toEqual(before.facts);
  });

  it("that came several times before it was worked on is worked on once", async () => {
    await world.payments.captured(CARD);
    expect(world.events.length).toBeGreaterThan(2);
    await deliverAll();
    expect(await world.work.drain()).toBe(1);
    expect((await world.hints.backlog()).waiting).toBe(0);
  });
});

describe("a hint beside our own request", () => {
  it("that comes before the answer waits until the request is over, and changes nothing then", async () => {
    const id = await world.payments.authorize(CARD);
    const answer = world.payments.gateway.holdsBack("capture");
    const capturing = world.payments.capture(id, "c");
    await answer.carriedOut;
    // Stripe has captured, and says so, and our request does not know it yet.
    await deliverAll(eventsOfType("payment_intent.succeeded"));
    await world.work.drain();
    expect(world.outcomes).toEqual(["busy"]);
    expect(await world.operationsOf(id)).toEqual(["authorize succeeded", "capture started"]);
    answer.letGo();
    expect((await capturing).operation.status).toBe("succeeded");
    const settled = await world.payments.payment(id);
    world.payments.clock.advance(500);
    expect(await world.work.drain()).toBe(1);
    expect(world.outcomes).toEqual(["busy", "done"]);
    expect((await world.payments.payment(id)).facts).toEqual(settled.facts);
  });

  it("whose answer is lost afterwards settles it within a second", async () => {
    const id = await world.payments.authorize(CARD);
    const answer = world.payments.gateway.holdsBack("capture", { outcome: "unknown", reason: "timeout" });
    const capturing = world.payments.capture(id, "c");
    await answer.carriedOut;
    await deliverAll();
    for (let n = 0; n < 8; n += 1) {
      await world.work.drain();
      world.payments.clock.advance(500);
    }
    answer.letGo();
    await capturing;
    expect(await world.operationsOf(id)).toEqual(["authorize succeeded", "capture unknown"]);
    world.payments.clock.advance(500);
    await world.work.drain();
    expect(await world.operationsOf(id)).toEqual(["authorize succeeded", "capture succeeded"]);
  });

  it("that comes during the section of a request that then asks itself is no second question about it", async () => {
    const id = await world.payments.authorize(CARD);
    world.standIn.arm("capture", "silent_after_acting");
    await world.payments.capture(id, "c");
    world.payments.clock.advance(10_000);
    const answer = world.payments.gateway.holdsBack("find");
    const repeated = world.payments.capture(id, "c");
    await answer.carriedOut;
    await deliverAll();
    await world.work.drain();
    expect(world.outcomes).toEqual(["busy"]);
    answer.letGo();
    expect((await repeated).operation.status).toBe("succeeded");
    world.payments.clock.advance(500);
    await world.work.drain();
    expect(world.outcomes).toEqual(["busy", "done"]);
    const types = await world.payments.eventTypes(id);
    expect(types.filter((type) => type === "capture.succeeded")).toHaveLength(1);
  });

  it("that is renewed while it is worked on is worked on again", async () => {
    const id = await world.payments.captured(CARD);
    world.standIn.arm("refund", "fails_later");
    await world.payments.refund(id, "r");
    const answer = world.payments.gateway.holdsBack("find");
    await deliverAll();
    const draining = world.work.drain();
    await answer.carriedOut;
    // What was seen is older than this.
    world.standIn.timePasses();
    await deliverAll(eventsOfType("refund.failed"));
    answer.letGo();
    expect(await draining).toBe(2);
    expect(await world.operationsOf(id)).toContain("refund failed");
  });
});

describe("a hint that cannot be followed yet", () => {
  const unknownIntent = (id: string) => ({
    ...world.events[0],
    id,
    data: { object: { object: "payment_intent", id: "pi_unknown", metadata: {} } },
  });

  it("is kept until its payment is there, and then followed", async () => {
    const form = { payment_method: CARD, capture_method: "manual", confirm: "true" };
    const { body } = world.standIn.world.create(
      new URLSearchParams({ ...form, amount: "5000", currency: "eur" }),
      "as asked",
    );
    const intent = (body as { id: string }).id;
    await deliverAll();
    await world.work.drain();
    expect(world.outcomes).toEqual(["no_payment"]);
    await world.payments.import("import", intent, world.gateway);
    world.payments.clock.advance(1_000);
    await world.work.drain();
    expect(world.outcomes).toEqual(["no_payment", "done"]);
    expect((await world.hints.backlog()).waiting).toBe(0);
  });

  it("is tried less and less often, and dropped after thirty days, with a word", async () => {
    await world.payments.authorize(CARD);
    await world.deliver(unknownIntent("evt_x"));
    const tries: number[] = [];
    const beganMs = world.payments.clock.now().getTime();
    while ((await world.hints.backlog()).waiting > 0 && tries.length < 100) {
      if ((await world.work.drain()) > 0) tries.push(world.payments.clock.now().getTime() - beganMs);
      world.payments.clock.advance(tries.length < 4 ? 1_000 : 300_000);
    }
    expect(tries.length).toBeLessThan(40);
    expect(tries.at(-1)).toBeGreaterThanOrEqual(30 * DAY_MS);
    expect(tries.at(-1)).toBeLessThan(32 * DAY_MS);
    expect(world.dropped).toEqual(["pi_unknown"]);
  });

  it("because Stripe is silent is tried again until it answers", async () => {
    const id = await world.payments.authorize(CARD);
    world.standIn.arm("capture", "silent_after_acting");
    await world.payments.capture(id, "c");
    await deliverAll();
    world.payments.gateway.answersQuestions({ outcome: "unknown", reason: "timeout" });
    await world.work.drain();
    expect(world.outcomes).toEqual(["unanswered"]);
    world.payments.gateway.answersQuestions(null);
    world.payments.clock.advance(1_000);
    await world.work.drain();
    expect(await world.statusOf(id)).toBe("captured");
  });

  it("because Stripe is silent about what has ended is tried again, too", async () => {
    const id = await world.payments.captured(CARD);
    world.standIn.arm("refund", "fails_later");
    await world.payments.refund(id, "r");
    world.standIn.timePasses();
    await deliverAll();
    world.payments.gateway.answersQuestions({ outcome: "unknown", reason: "timeout" });
    await world.work.drain();
    expect(world.outcomes).toEqual(["unanswered"]);
    world.payments.gateway.answersQuestions(null);
    world.payments.clock.advance(1_000);
    await world.work.drain();
    expect(await world.operationsOf(id)).toContain("refund failed");
  });

  it("because Stripe does not show the payment is tried again, and finds what others have done", async () => {
    const id = await world.payments.authorize(CARD);
    const { authorizationReference } = (await world.payments.payment(id)).facts;
    world.standIn.world.captureInDashboard(authorizationReference ?? "");
    await deliverAll();
    world.payments.gateway.next("picture", async () => ({ outcome: "unknown", reason: "timeout" }));
    await world.work.drain();
    expect(world.outcomes).toEqual(["unanswered"]);
    expect(await world.statusOf(id)).toBe("authorized");
    world.payments.clock.advance(1_000);
    await world.work.drain();
    expect(world.outcomes).toEqual(["unanswered", "done"]);
    expect(await world.statusOf(id)).toBe("captured");
  });

  it("about what Stripe has said in two ways leaves that to a person", async () => {
    const id = await world.payments.captured(CARD);
    world.payments.gateway.answersQuestions({ outcome: "declined", reason: "never" });
    await world.payments.observe(id);
    const doubted = await world.payments.payment(id);
    expect(doubted.facts.operations.some(({ conflicted }) => conflicted)).toBe(true);
    world.payments.gateway.answersQuestions(null);
    await deliverAll();
    await world.work.drain();
    expect(world.outcomes).toEqual(["done"]);
    expect((await world.payments.payment(id)).facts).toEqual(doubted.facts);
  });

  it("because the store fails is tried again, and the failure is told", async () => {
    const id = await world.payments.authorize(CARD);
    await deliverAll();
    const { payments } = world.payments.context;
    const find = payments.find.bind(payments);
    payments.find = () => Promise.reject(new PaymentError("payment_busy", { paymentId: id }));
    await world.work.drain();
    expect(world.outcomes).toEqual(["unanswered"]);
    expect(world.failures).toHaveLength(1);
    payments.find = find;
    world.payments.clock.advance(1_000);
    await world.work.drain();
    expect(world.outcomes).toEqual(["unanswered", "done"]);
  });
});
