import type {
  EventFeed,
  FeedEvent,
  FeedPage,
  FeedQuery,
} from "../../../src/application/ports/events/event-feed";
import {
  InvalidCursorError,
  VersionConflictError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import type { PaymentEventContent } from "../../../src/application/public-events/public-event";
import { publicPayment } from "../../../src/application/public-events/public-payment";
import { parseMerchantId } from "../../../src/domain/identifiers";
import { decideRefund } from "../../../src/domain/payment/decide-movement";
import type { Payment } from "../../../src/domain/payment/payment";
import { restored } from "../../../src/domain/payment/restored";
import {
  BEFORE_THE_FIRST,
  cursorAt,
  type EventCursor,
} from "../../../src/interfaces/http/endpoints/events/event-cursor";
import { nextEvents } from "../../../src/interfaces/http/endpoints/events/next-events";
import {
  authorizedPayment,
  authorizingPayment,
  begin,
  capturedPayment,
  capturingPayment,
  expiredPayment,
  settled,
  step,
  succeeds,
  begunBy,
} from "../../support/worlds/payments";

/** A feed and the repository whose saves it tells of. */
export interface EventFeedHarness {
  readonly repository: PaymentRepository;
  readonly feed: EventFeed;
  close(): Promise<void>;
}

const LONG_MS = 60_000;

/** As it is read again. */
const stored = ({ facts }: Payment): Payment => restored(facts);

/** What every feed promises, in the words of the port. `makeAnother`: in a store of its own, while the first one is open. */
export function describeEventFeed(
  name: string,
  make: () => Promise<EventFeedHarness>,
  makeAnother: () => Promise<EventFeedHarness> = make,
): void {
  describe(`${name} tells what happened to payments`, () => {
    let harness: EventFeedHarness;
    let repository: PaymentRepository;
    let feed: EventFeed;
    beforeEach(async () => {
      harness = await make();
      ({ repository, feed } = harness);
    });
    afterEach(async () => {
      await harness.close();
    });

    /** Saves each step in turn, as use cases do. */
    async function saved(...steps: readonly Payment[]): Promise<void> {
      let version: number | "new" = "new";
      for (const payment of steps) ({ version } = await repository.save(payment, version));
    }

    /** Authorized, captured and refunded, stored step by step. */
    async function lived(payment = authorizingPayment()): Promise<Payment> {
      const steps = [payment];
      const next = (make: (payment: Payment) => Payment) => steps.push(make(stored(steps.at(-1)!)));
      next((one) => settled(one, succeeds(`auth_${one.facts.id}`)));
      next((one) => capturingPayment(one));
      next((one) => settled(one, succeeds("cap_1")));
      next((one) => begunBy(decideRefund(one, begin(), { amount: 300n }, step())).payment);
      next((one) => settled(one, succeeds("re_1")));
      await saved(...steps);
      return stored(steps.at(-1)!);
    }

    async function all(query: Partial<FeedQuery> = {}): Promise<readonly FeedEvent[]> {
      const found: FeedEvent[] = [];
      let page: FeedPage = { events: [], through: 0, isFull: true };
      while (page.isFull) {
        page = await feed.read({ limit: 100, ...query, after: page.through });
        found.push(...page.events);
      }
      return found;
    }

    const typesOf = (events: readonly FeedEvent[]) => events.map(({ type }) => type);

    describe("in order", () => {
      it("a life is told by its public steps, counted, each with the payment as it was then", async () => {
        const payment = await lived();
        const events = await all();
        expect(typesOf(events)).toEqual(["payment.authorized", "payment.captured", "payment.refunded"]);
        expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
        expect(events.map(({ content }) => (content as PaymentEventContent).payment.status)).toEqual([
          "authorized",
          "captured",
          "captured",
        ]);
        expect(events.map(({ content }) => (content as PaymentEventContent).operation)).toMatchObject([
          { kind: "authorize", status: "succeeded", amount: 1000 },
          { kind: "capture", status: "succeeded", amount: 1000 },
          { kind: "refund", status: "succeeded", amount: 300 },
        ]);
        expect((events.at(-1)?.content as PaymentEventContent).payment).toEqual(publicPayment(payment));
        expect(events[0]).toMatchObject({
          merchant: "acme",
          paymentId: payment.facts.id,
          at: expect.any(Date),
        });
      });

      it("an event has the id of its line in the payment's history, and no two have one position", async () => {
        const { facts } = await lived();
        const events = await all();
        const history = await repository.events(facts.id);
        const ids = (history ?? []).map((event) => event.id);
        for (const event of events) expect(ids).toContain(event.id);
        expect(new Set(events.map(({ position }) => position)).size).toBe(3);
        expect(events.every(({ position }) => Number.isSafeInteger(position) && position > 0)).toBe(true);
      });

      it("several events of one save are told in their order and counted on", async () => {
        const authorized = authorizedPayment();
        await saved(authorized, capturingPayment(stored(authorized)));
        const { payment, version } = (await repository.find(authorized.facts.id))!;
        await repository.save(
          settled(payment, { outcome: "authorization_gone", reason: "it is gone" }),
          version,
        );
        const events = await all();
        expect(typesOf(events)).toEqual(["payment.authorized", "capture.failed", "payment.expired"]);
        expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
      });

      it("of a save that is refused nothing is told", async () => {
        const payment = authorizedPayment();
        await saved(payment);
        const captured = capturedPayment(stored(payment));
        await expect(repository.save(captured, 7)).rejects.toThrow(VersionConflictError);
        await expect(repository.save(authorizedPayment({ id: payment.facts.id }), "new")).rejects.toThrow();
        expect(typesOf(await all())).toEqual(["payment.authorized"]);
      });

      it("twenty payments at once: every reader that follows sees the same events in the same order, none twice", async () => {
        const payments = Array.from({ length: 20 }, () => authorizingPayment());
        const lives = Promise.all(payments.map(lived));
        const followed = await Promise.all([1, 2, 3].map(async () => follow(60)));
        await lives;
        const [first, ...others] = followed;
        for (const other of others) expect(other).toEqual(first);
        expect(await all()).toEqual(first);
        for (const { facts } of payments) {
          const own = first?.filter(({ paymentId }) => paymentId === facts.id) ?? [];
          expect(own.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
        }
      });

      /** As a reader does that never looks back. */
      async function follow(count: number): Promise<readonly FeedEvent[]> {
        const seen: FeedEvent[] = [];
        let after = 0;
        for (let look = 0; seen.length < count && look < 10_000; look += 1) {
          const since = feed.published;
          const { events, through } = await feed.read({ after, limit: 7 });
          seen.push(...events);
          after = through;
          if (events.length === 0) await feed.changed(since, 50);
        }
        return seen;
      }
    });

    describe("by what is asked for", () => {
      it("page by page, each event once", async () => {
        for (let n = 0; n < 3; n += 1) await lived();
        const found: FeedEvent[] = [];
        let page: FeedPage = { events: [], through: 0, isFull: true };
        for (let pages = 0; page.isFull && pages < 20; pages += 1) {
          page = await feed.read({ after: page.through, limit: 2 });
          expect(page.events.length).toBeLessThanOrEqual(2);
          found.push(...page.events);
        }
        expect(found).toEqual(await all());
        expect(found).toHaveLength(9);
      });

      it("one merchant's, one payment's, some types only, and all of these together", async () => {
        const mine = await lived();
        const others = await lived(authorizingPayment({ merchant: "globex" }));
        const globex = parseMerchantId("globex");
        expect((await all({ merchant: globex })).map(({ paymentId }) => paymentId)).toEqual(
          Array(3).fill(others.facts.id),
        );
        expect((await all({ paymentId: mine.facts.id })).map(({ merchant }) => merchant)).toEqual(
          Array(3).fill("acme"),
        );
        expect(typesOf(await all({ types: ["payment.captured", "payment.refunded"] }))).toEqual([
          "payment.captured",
          "payment.refunded",
          "payment.captured",
          "payment.refunded",
        ]);
        const both = { merchant: globex, paymentId: others.facts.id, types: ["payment.captured"] as const };
        expect(await all(both)).toHaveLength(1);
        expect(await all({ ...both, paymentId: mine.facts.id })).toEqual([]);
      });

      it("where nothing fits, it goes on behind what was looked at", async () => {
        await lived();
        const latest = await feed.latest();
        expect(await feed.read({ after: 0, limit: 10, types: ["payment.voided"] })).toEqual({
          events: [],
          through: latest,
          isFull: false,
        });
        await saved(authorizedPayment());
        expect(typesOf((await feed.read({ after: latest, limit: 10 })).events)).toEqual([
          "payment.authorized",
        ]);
      });

      it("an empty feed begins at 0, and a position that it has not reached is none of its own", async () => {
        expect(await feed.latest()).toBe(0);
        expect(await feed.read({ after: 0, limit: 10 })).toEqual({ events: [], through: 0, isFull: false });
        await expect(feed.read({ after: 1, limit: 10 })).rejects.toThrow(InvalidCursorError);
        await saved(authorizedPayment());
        expect(await feed.latest()).toBe((await all())[0]?.position);
      });
    });

    describe("and tells itself from another feed", () => {
      let another: EventFeedHarness;
      beforeEach(async () => {
        another = await makeAnother();
      });
      afterEach(async () => {
        await another.close();
      });

      const goOn = (from: EventCursor, on = feed) =>
        nextEvents(async (work) => work(on), { limit: 100 }, from, 0, new AbortController().signal);

      it("each position has the id of its event, and where there is no event there is none", async () => {
        expect(await feed.eventIdAt(1)).toBeNull();
        await lived();
        for (const { position, id } of await all()) expect(await feed.eventIdAt(position)).toBe(id);
        const latest = await feed.latest();
        for (const position of [0, latest + 1, Number.MAX_SAFE_INTEGER])
          expect(await feed.eventIdAt(position)).toBeNull();
      });

      it("a cursor goes on in its feed, however that moves on, and is refused by another that is as long", async () => {
        const { facts } = await lived();
        for (let n = 0; n < 3; n += 1) await another.repository.save(authorizedPayment(), "new");
        const { events, next } = await goOn(BEFORE_THE_FIRST);
        expect(events).toHaveLength(3);
        expect((await goOn(BEFORE_THE_FIRST, another.feed)).events).toHaveLength(3);
        for (const [at, event] of events.entries()) {
          await expect(goOn(cursorAt(event), another.feed)).rejects.toThrow(InvalidCursorError);
          expect((await goOn(cursorAt(event))).events).toEqual(events.slice(at + 1));
        }
        expect(next).toEqual(cursorAt(events.at(-1)!));
        await saved(authorizedPayment());
        expect(typesOf((await goOn(next)).events)).toEqual(["payment.authorized"]);
        const passed = await nextEvents(
          async (work) => work(feed),
          { limit: 100, paymentId: facts.id },
          next,
          0,
          new AbortController().signal,
        );
        // Nothing was for it, and it is behind an event that was not shown to it.
        expect(passed.events).toEqual([]);
        expect((await goOn(passed.next)).events).toEqual([]);
        await expect(goOn(passed.next, another.feed)).rejects.toThrow(InvalidCursorError);
      });

      it("a cursor is refused by a feed that is shorter, and that of an empty feed begins anywhere", async () => {
        const start = (await goOn(BEFORE_THE_FIRST, another.feed)).next;
        await lived();
        await another.repository.save(authorizedPayment(), "new");
        const { next } = await goOn(BEFORE_THE_FIRST);
        await expect(goOn(next, another.feed)).rejects.toThrow(InvalidCursorError);
        expect((await goOn(start)).events).toHaveLength(3);
      });
    });

    describe("and says when there is more", () => {
      it("a reader that waits is woken by what this process publishes", async () => {
        const since = feed.published;
        const woken = feed.changed(since, LONG_MS);
        await saved(authorizedPayment());
        await woken;
        expect(feed.published).toBeGreaterThan(since);
        expect(typesOf(await all())).toEqual(["payment.authorized"]);
      });

      it("what comes between a look and the wait is not slept through", async () => {
        const since = feed.published;
        await saved(authorizedPayment());
        await feed.changed(since, LONG_MS);
      });

      it("an inner step wakes nobody", async () => {
        const payment = authorizedPayment();
        await saved(payment);
        const since = feed.published;
        await repository.save(capturingPayment(stored(payment)), 1);
        expect(feed.published).toBe(since);
      });

      it("the wait ends by its limit, and at once when the reader leaves", async () => {
        await feed.changed(feed.published, 1);
        const leaves = new AbortController();
        const left = feed.changed(feed.published, LONG_MS, leaves.signal);
        leaves.abort();
        await left;
        await feed.changed(feed.published, LONG_MS, leaves.signal);
      });
    });

    it("an expiry is told with what is left to do kept back", async () => {
      const payment = authorizedPayment();
      await saved(payment, expiredPayment(stored(payment)));
      const events = await all();
      expect(typesOf(events)).toEqual(["payment.authorized", "payment.expired"]);
      expect((events[1]?.content as PaymentEventContent).operation).toBeNull();
    });
  });
}
