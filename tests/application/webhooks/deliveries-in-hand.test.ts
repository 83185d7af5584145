import { randomUUID } from "node:crypto";
import type { ClaimedDelivery } from "../../../src/application/ports/events/webhook-delivery-queue";
import { DeliveriesInHand } from "../../../src/application/webhooks/deliveries-in-hand";
import {
  parseWebhookDeliveryId,
  parseWebhookEndpointId,
} from "../../../src/domain/webhooks/webhook-endpoint";

const LIMITS = { inAll: 64, perEndpoint: 4, ahead: 64, aheadInAll: 256, leaseMs: 6_000 };

function deliveryTo(endpoint: string): ClaimedDelivery {
  const id = parseWebhookDeliveryId(randomUUID());
  return { id, endpointId: parseWebhookEndpointId(endpoint) } as ClaimedDelivery;
}

function begun(hand: DeliveriesInHand): ClaimedDelivery[] {
  const all: ClaimedDelivery[] = [];
  for (let next = hand.next(); next !== undefined; next = hand.next()) all.push(next.claimed);
  return all;
}

/** What may be claimed now, wish by wish. */
const limits = (hand: DeliveriesInHand) => hand.wishes.map((wish) => wish().limit);

describe("deliveries in hand", () => {
  it("go to an endpoint four at a time, and the next one as soon as one was answered", () => {
    const hand = new DeliveriesInHand(LIMITS);
    const endpoint = randomUUID();
    const lent = Array.from({ length: 6 }, () => deliveryTo(endpoint));
    for (const one of lent) hand.add(one, 0);
    expect(begun(hand)).toEqual(lent.slice(0, 4));
    expect(hand.next()).toBeUndefined();
    hand.answered(lent[0]!);
    expect(begun(hand)).toEqual([lent[4]]);
  });

  it("leave places for others while they wait: beyond half of them each endpoint has one", () => {
    const hand = new DeliveriesInHand(LIMITS);
    for (let at = 0; at < 10; at += 1) {
      const endpoint = randomUUID();
      for (let nth = 0; nth < 20; nth += 1) hand.add(deliveryTo(endpoint), 0);
    }
    // Eight endpoints have four, two have one.
    expect(begun(hand)).toHaveLength(34);
    // Nothing ahead of time, no four at once, but whoever has nothing under way.
    expect(limits(hand)).toEqual([0, -2, 30]);
    for (let at = 0; at < 40; at += 1) hand.add(deliveryTo(randomUUID()), 0);
    expect(begun(hand)).toHaveLength(30);
    expect(hand.isFull).toBe(true);
    expect(limits(hand).every((limit) => limit <= 0)).toBe(true);
  });

  it("are taken ahead of time as far as few of them wait, and else as there are places", () => {
    const hand = new DeliveriesInHand({ ...LIMITS, aheadInAll: 10 });
    expect(limits(hand)).toEqual([10, 32, 64]);
    const endpoint = randomUUID();
    for (let at = 0; at < 14; at += 1) hand.add(deliveryTo(endpoint), 0);
    begun(hand);
    expect(limits(hand)).toEqual([0, 28, 60]);
  });

  it("are kept until they are let go of, also when they were answered", () => {
    const hand = new DeliveriesInHand(LIMITS);
    const [first, second] = [deliveryTo(randomUUID()), deliveryTo(randomUUID())];
    hand.add(first, 0);
    hand.add(second, 0);
    expect(hand.next()?.claimed).toBe(first);
    hand.answered(first);
    expect(hand.ids).toEqual([first.id, second.id]);
    hand.letGo(first.id);
    expect(hand.letGoOfWaiting()).toEqual([second.id]);
    expect(hand.size).toBe(0);
    expect(hand.next()).toBeUndefined();
  });

  it("are let go of by endpoint, those under way excepted", () => {
    const hand = new DeliveriesInHand({ ...LIMITS, perEndpoint: 1 });
    const [one, other] = [randomUUID(), randomUUID()];
    const lent = [deliveryTo(one), deliveryTo(one), deliveryTo(other), deliveryTo(other)];
    for (const delivery of lent) hand.add(delivery, 0);
    begun(hand);
    expect(hand.letGoOfWaiting([lent[0]!.endpointId])).toEqual([lent[1]!.id]);
    expect(hand.ids).toEqual([lent[0]!.id, lent[2]!.id, lent[3]!.id]);
  });

  it("are lent until their lease is over, and as long again from a renewal that came before that", () => {
    const hand = new DeliveriesInHand(LIMITS);
    const [kept, late] = [deliveryTo(randomUUID()), deliveryTo(randomUUID())];
    hand.add(kept, 1_000);
    hand.add(late, 0);
    expect(hand.isLent(kept.id, 6_999)).toBe(true);
    expect(hand.isLent(kept.id, 7_000)).toBe(false);
    hand.renewed([kept.id, late.id], 6_500);
    expect(hand.isLent(kept.id, 12_499)).toBe(true);
    expect(hand.isLent(late.id, 6_500)).toBe(false);
    hand.letGo(kept.id);
    expect(hand.isLent(kept.id, 0)).toBe(false);
  });
});
