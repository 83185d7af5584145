import type { NewPublicEvent } from "../../../src/application/public-events/public-event";
import type {
  ClaimedDelivery,
  ClaimWish,
  Settlement,
} from "../../../src/application/ports/events/webhook-delivery-queue";
import type { LastAttempt } from "../../../src/application/ports/events/webhook-delivery-store";
import type { NewDelivery } from "../../../src/application/ports/events/webhook-fan-out-store";
import type { WebhookStore } from "../../../src/application/ports/events/webhook-store";
import type { EventFeed } from "../../../src/application/ports/events/event-feed";
import { InvalidCursorError } from "../../../src/application/ports/payment-repository";
import { parseMerchantId } from "../../../src/domain/identifiers";
import {
  parseWebhookDeliveryId,
  parseWebhookEndpointId,
  type WebhookEndpoint,
  type WebhookEndpointId,
} from "../../../src/domain/webhooks/webhook-endpoint";
import { after, NOON } from "../../support/worlds/payments";

export interface WebhookStoreHarness {
  readonly store: WebhookStore;
  /** The same store as another process has it; undefined where no other process can. */
  readonly elsewhere?: WebhookStore;
  readonly feed: EventFeed;
  close(): Promise<void>;
}

const ACME = parseMerchantId("acme");
const HOUR_MS = 3_600_000;
const LEASE_MS = 30_000;
const MANY = 100;

/** What every store of webhooks promises, in the words of the port. */
export function describeWebhookStore(name: string, make: () => Promise<WebhookStoreHarness>): void {
  describe(`${name} keeps webhooks`, () => {
    let harness: WebhookStoreHarness;
    let store: WebhookStore;
    let elsewhere: WebhookStore;
    beforeEach(async () => {
      harness = await make();
      ({ store } = harness);
      elsewhere = harness.elsewhere ?? store;
    });
    afterEach(() => harness.close());

    async function made(change: Partial<WebhookEndpoint> = {}, startsAfter = 0): Promise<WebhookEndpoint> {
      const one = endpoint(change);
      expect(await store.endpoints.create(one, startsAfter, MANY)).toBe(true);
      return one;
    }
    async function fannedOut(to: number, ...deliveries: NewDelivery[]): Promise<void> {
      expect(await store.fanOut.advance(await store.fanOut.state(), to, deliveries)).toBe(true);
    }
    const claim = (wish: Partial<ClaimWish> = {}, from = store) =>
      from.queue.claim({
        owner: "here",
        leaseMs: LEASE_MS,
        now: NOON,
        perEndpoint: 4,
        alone: wish.perEndpoint ?? 4,
        limit: MANY,
        ...wish,
      });
    const settle = (
      claimed: ClaimedDelivery | undefined,
      next: Settlement["next"],
      { owner = "here", ...more }: Partial<Settlement> & { readonly owner?: string } = {},
    ) => store.queue.settle(owner, [settlementOf(claimed, next, more)]);

    describe("endpoints", () => {
      it("are given back as they were made", async () => {
        const one = await made({ types: ["payment.captured"], description: "till 3 🏦", ordered: false });
        expect(await elsewhere.endpoints.find(one.id)).toEqual(one);
        const all = await made({ types: null, description: null });
        expect(await elsewhere.endpoints.find(all.id)).toEqual(all);
        expect(await elsewhere.endpoints.find(endpoint().id)).toBeNull();
      });

      it("are listed by merchant, page by page, in the order in which they were made", async () => {
        const ours = [await made(), await made(), await made()];
        const theirs = await made({ merchant: parseMerchantId("other") });
        expect((await store.endpoints.list(null, { limit: 9 })).data).toEqual([...ours, theirs]);
        const first = await store.endpoints.list(ACME, { limit: 2 });
        const second = await store.endpoints.list(ACME, { limit: 2, cursor: first.nextCursor! });
        expect([...first.data, ...second.data]).toEqual(ours);
        expect(second.nextCursor).toBeNull();
        await expect(store.endpoints.list(ACME, { limit: 2, cursor: "x" })).rejects.toThrow(
          InvalidCursorError,
        );
      });

      it("are no more than the limit, those of others and deleted ones not counted", async () => {
        const [first] = [await made(), await made({ merchant: parseMerchantId("other") }), await made()];
        expect(await store.endpoints.create(endpoint(), 0, 2)).toBe(false);
        expect((await store.endpoints.list(ACME, { limit: 10 })).data).toHaveLength(2);
        await store.endpoints.delete(first.id, NOON);
        expect(await store.endpoints.create(endpoint(), 0, 2)).toBe(true);
      });

      it("change in what is named, and in nothing else", async () => {
        const one = await made({ description: "before" });
        const secrets = { current: "sealed-2", previous: { sealed: "sealed-1", until: after(HOUR_MS) } };
        const change = { secrets, types: ["payment.voided"], updatedAt: after(1) };
        expect(await store.endpoints.change(one.id, change)).toEqual({ ...one, ...change });
        expect(await elsewhere.endpoints.find(one.id)).toEqual({ ...one, ...change });
        expect(await store.endpoints.change(endpoint().id, change)).toBeNull();
      });

      it("change their secret only if it is the one that is to be replaced", async () => {
        const one = await made();
        const change = { secrets: { current: "sealed-2", previous: null }, updatedAt: NOON };
        expect(await store.endpoints.change(one.id, change, { ifSecret: "another" })).toBeNull();
        expect(
          await store.endpoints.change(one.id, change, { ifSecret: one.secrets.current }),
        ).not.toBeNull();
      });

      it("have one secret of each beginning shown, of all that are still needed", async () => {
        const until = (at: Date, sealed: string) => ({ sealed, until: at });
        const ofKeys = async () =>
          (await elsewhere.endpoints.secretsByBeginning(NOON, 4))
            .map(({ sealed }) => sealed.slice(0, 4))
            .sort();
        expect(await ofKeys()).toEqual([]);
        await made({ secrets: { current: "one.1", previous: null } });
        const two = await made({ secrets: { current: "one.2", previous: until(after(1), "two.1") } });
        await made({ secrets: { current: "one.3", previous: until(after(1), "two.2") } });
        await made({ secrets: { current: "thr.1", previous: until(NOON, "old.1") } });
        const gone = await made({ secrets: { current: "gon.1", previous: until(after(1), "gon.2") } });
        await store.endpoints.delete(gone.id, NOON);
        expect([...new Set(await ofKeys())]).toEqual(["one.", "thr.", "two."]);
        const found = await elsewhere.endpoints.secretsByBeginning(NOON, 4);
        expect(found).toHaveLength(3);
        const ofTwo = found.filter(({ endpointId }) => endpointId === two.id);
        for (const { sealed } of ofTwo) expect(["one.2", "two.1"]).toContain(sealed);
      });

      it("are found by nobody once they are deleted, and nothing goes there", async () => {
        const one = await made();
        await fannedOut(1, delivery(one.id, 1));
        expect(await store.endpoints.delete(one.id, NOON)).toBe(true);
        expect(await store.endpoints.delete(one.id, NOON)).toBe(false);
        expect(await store.endpoints.find(one.id)).toBeNull();
        expect((await store.endpoints.list(ACME, { limit: 10 })).data).toEqual([]);
        expect(await store.endpoints.listeners()).toEqual([]);
        expect(await claim()).toEqual([]);
        expect(await store.queue.nextDueAt()).toBeNull();
      });
    });

    describe("the fan-out", () => {
      it("goes on where it stopped, and begins an endpoint behind that and behind the feed", async () => {
        await fannedOut(7);
        const behindFanOut = await made({}, 3);
        const behindFeed = await made({}, 9);
        expect(await elsewhere.fanOut.state()).toMatchObject({ position: 7 });
        expect(await store.endpoints.listeners()).toEqual(
          expect.arrayContaining([
            { id: behindFanOut.id, merchant: ACME, types: null, startsAfter: 7 },
            { id: behindFeed.id, merchant: ACME, types: null, startsAfter: 9 },
          ]),
        );
      });

      it("is refused when another one was first, and then leaves nothing behind", async () => {
        const one = await made();
        const state = await store.fanOut.state();
        expect(await elsewhere.fanOut.advance(state, 1, [delivery(one.id, 1)])).toBe(true);
        expect(await store.fanOut.advance(state, 2, [delivery(one.id, 2)])).toBe(false);
        expect((await store.deliveries.list(one.id, { limit: 10 })).data).toHaveLength(1);
        expect((await store.fanOut.state()).position).toBe(1);
      });

      it.each([
        ["made", async (_id: WebhookEndpointId) => void (await made())],
        [
          "changed",
          async (id: WebhookEndpointId) =>
            void (await store.endpoints.change(id, { types: [], updatedAt: NOON })),
        ],
        ["deleted", async (id: WebhookEndpointId) => void (await store.endpoints.delete(id, NOON))],
      ])("is refused when an endpoint was %s since the state was read", async (_what, change) => {
        const one = await made();
        const state = await store.fanOut.state();
        await change(one.id);
        expect(await store.fanOut.advance(state, 1, [delivery(one.id, 1)])).toBe(false);
        await fannedOut(1, delivery(one.id, 1));
      });

      it("is done by one of many at once", async () => {
        const one = await made();
        const state = await store.fanOut.state();
        const tries = Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? store : elsewhere).fanOut.advance(state, 1, [
            delivery(one.id, 1, { eventId: "e1" }),
          ]),
        );
        expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
        expect((await store.deliveries.list(one.id, { limit: 10 })).data).toHaveLength(1);
      });

      it("keeps the first delivery of an event, with its body", async () => {
        const one = await made();
        await fannedOut(1, delivery(one.id, 1, { eventId: "e1", body: "first" }));
        await fannedOut(2, delivery(one.id, 2, { eventId: "e1", body: "second" }));
        const { data } = await store.deliveries.list(one.id, { limit: 10 });
        expect(data.map(({ body }) => body)).toEqual(["first"]);
      });
    });

    describe("deliveries", () => {
      it("are lent once, with their endpoint, and given back as they were added", async () => {
        const one = await made();
        const wanted = delivery(one.id, 1, { body: '{"ü":"\\u0000 \\ud83c\\udfe6"}' });
        await fannedOut(1, wanted);
        expect(await claim()).toEqual([{ ...wanted, attempts: 0, endpoint: one }]);
        expect(await claim({ owner: "there" }, elsewhere)).toEqual([]);
      });

      it("are lent to one of many who ask at once", async () => {
        const one = await made({ ordered: false });
        await fannedOut(40, ...Array.from({ length: 40 }, (_, at) => delivery(one.id, at + 1)));
        const lent = await Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            claim({ owner: `o${index}`, perEndpoint: 40, limit: 10 }, index % 2 === 0 ? store : elsewhere),
          ),
        );
        const ids = lent.flat().map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.length).toBeGreaterThanOrEqual(10);
      });

      it("are lent when they are due, and not before", async () => {
        const one = await made();
        await fannedOut(1, delivery(one.id, 1, { createdAt: after(1) }));
        expect(await store.queue.nextDueAt()).toEqual(after(1));
        expect(await claim({ now: NOON })).toEqual([]);
        expect(await claim({ now: after(1) })).toHaveLength(1);
      });

      it("are there for others when the loan has ended or was given back, and not while it is renewed", async () => {
        const one = await made();
        await fannedOut(1, delivery(one.id, 1));
        const [first] = await claim({ leaseMs: 1 });
        await later(10);
        const [second] = await claim({ owner: "there", leaseMs: 1 }, elsewhere);
        expect(second?.id).toBe(first?.id);
        await elsewhere.queue.renew("there", [second!.id], LEASE_MS);
        await store.queue.renew("here", [second!.id], 1);
        await later(10);
        expect(await claim()).toEqual([]);
        await store.queue.giveBack("here", [second!.id]);
        expect(await claim()).toEqual([]);
        await elsewhere.queue.giveBack("there", [second!.id]);
        expect(await claim()).toHaveLength(1);
      });

      it("of one payment follow each other, those of others do not wait", async () => {
        const one = await made();
        await fannedOut(
          3,
          delivery(one.id, 1, { line: "p1" }),
          delivery(one.id, 2, { line: "p1" }),
          delivery(one.id, 3, { line: "p2" }),
        );
        const [first, other, ...none] = await claim();
        expect([first?.position, other?.position, none.length]).toEqual([1, 3, 0]);
        await settle(first, "delivered");
        expect((await claim()).map(({ position }) => position)).toEqual([2]);
      });

      it("that come while the one before them waits for its next attempt wait as long, and no longer", async () => {
        const one = await made();
        await fannedOut(1, delivery(one.id, 1, { line: "p1" }));
        const [first] = await claim();
        await settle(first, after(HOUR_MS));
        await fannedOut(2, delivery(one.id, 2, { line: "p1" }));
        expect(await claim({ now: after(HOUR_MS - 1) })).toEqual([]);
        expect(await store.queue.nextDueAt()).toEqual(after(HOUR_MS));
        const [again] = await claim({ now: after(HOUR_MS) });
        expect(again?.position).toBe(1);
        await settle(again, "failed", { attempt: attempt({ at: after(HOUR_MS) }) });
        expect((await claim({ now: after(HOUR_MS) })).map(({ position }) => position)).toEqual([2]);
      });

      it("of an unordered endpoint do not wait for one another", async () => {
        const one = await made({ ordered: false });
        await fannedOut(2, delivery(one.id, 1, { line: "p1" }), delivery(one.id, 2, { line: "p1" }));
        const [first, second] = await claim();
        expect(second?.position).toBe(2);
        await settle(first, after(HOUR_MS));
        await fannedOut(3, delivery(one.id, 3, { line: "p1" }));
        expect((await claim()).map(({ position }) => position)).toEqual([3]);
      });

      it("are lent from each endpoint at most so many at once, whoever has them, so that all have their turn", async () => {
        const [busy, idle] = [await made(), await made()];
        await fannedOut(
          21,
          ...Array.from({ length: 20 }, (_, at) => delivery(busy.id, at + 1)),
          delivery(idle.id, 21, { createdAt: after(-1) }),
        );
        const lent = await claim({ perEndpoint: 3 });
        expect(lent.filter(({ endpointId }) => endpointId === busy.id)).toHaveLength(3);
        expect(lent.filter(({ endpointId }) => endpointId === idle.id)).toHaveLength(1);
        expect(await claim({ owner: "there", perEndpoint: 3 }, elsewhere)).toEqual([]);
        expect(await claim({ owner: "there", perEndpoint: 4 }, elsewhere)).toHaveLength(1);
      });

      it("are lent ahead of time to an owner that is alone with an endpoint, and to nobody else meanwhile", async () => {
        const one = await made();
        await fannedOut(9, ...Array.from({ length: 9 }, (_, at) => delivery(one.id, at + 1)));
        const ahead = await claim({ perEndpoint: 2, alone: 6 });
        expect(ahead).toHaveLength(6);
        const there = { owner: "there", perEndpoint: 2, alone: 6 };
        expect(await claim(there, elsewhere)).toEqual([]);
        await store.queue.settle(
          "here",
          ahead.slice(0, 5).map((one) => settlementOf(one, "delivered")),
        );
        // One of two at once is the other's.
        expect(await claim(there, elsewhere)).toHaveLength(1);
        expect(await claim({ perEndpoint: 2, alone: 6 })).toEqual([]);
      });

      it("are settled together, each with what it means for its line and for its endpoint", async () => {
        const [well, ill] = [await made(), await made()];
        await fannedOut(
          5,
          delivery(well.id, 1, { line: "p1" }),
          delivery(well.id, 2, { line: "p1" }),
          delivery(well.id, 3, { line: "p2" }),
          delivery(ill.id, 4, { line: "p1" }),
          delivery(ill.id, 5, { line: "p2" }),
        );
        const [first, third, fourth, fifth] = [...(await claim())].sort((a, b) => a.position - b.position);
        await store.queue.settle("here", []);
        await store.queue.settle("here", [
          settlementOf(first, "delivered", { attempt: attempt({ status: 204, answer: "ok", tookMs: 7 }) }),
          settlementOf(fourth, after(5_000)),
          settlementOf(third, "delivered", { attempt: attempt({ at: after(2) }) }),
          settlementOf(fifth, "failed", {
            disable: { reason: "gone", ifFailingSince: null, event: disabledEvent() },
          }),
        ]);
        expect(await elsewhere.deliveries.find(first!.id)).toMatchObject({
          status: "delivered",
          attempts: 1,
          dueAt: null,
          settledAt: NOON,
          lastAttempt: { status: 204, failure: null, answer: "ok", tookMs: 7 },
        });
        expect(await elsewhere.deliveries.find(third!.id)).toMatchObject({
          status: "delivered",
          settledAt: after(2),
        });
        expect(await elsewhere.deliveries.find(fourth!.id)).toMatchObject({
          status: "pending",
          dueAt: after(5_000),
        });
        expect(await elsewhere.deliveries.find(fifth!.id)).toMatchObject({ status: "failed" });
        expect((await claim({ now: after(10_000) })).map(({ position }) => position)).toEqual([2]);
        expect(await store.endpoints.find(well.id)).toMatchObject({ failing: null, disabled: null });
        expect(await store.endpoints.find(ill.id)).toMatchObject({ disabled: { reason: "gone" } });
        expect((await harness.feed.read({ after: 0, limit: 10 })).events).toHaveLength(1);
      });

      it("that are delivered show that an endpoint is well, also where another one failed beside them", async () => {
        const one = await made();
        await fannedOut(3, ...[1, 2, 3].map((position) => delivery(one.id, position)));
        const [first, second, third] = await claim();
        await settle(first, after(5_000));
        expect(await store.endpoints.find(one.id)).toMatchObject({ failing: { since: NOON } });
        await store.queue.settle("here", [
          settlementOf(second, after(5_000)),
          settlementOf(third, "delivered"),
        ]);
        expect(await elsewhere.endpoints.find(one.id)).toMatchObject({ failing: null });
      });

      it("are lent at most so many in all, those first that are due longest", async () => {
        const endpoints = [await made(), await made(), await made()];
        await fannedOut(3, ...endpoints.map(({ id }, at) => delivery(id, at + 1, { createdAt: after(-at) })));
        expect((await claim({ limit: 1 })).map(({ position }) => position)).toEqual([3]);
        expect((await claim({ limit: 9 })).map(({ position }) => position).sort()).toEqual([1, 2]);
      });

      it("remember their last attempt, and when the next one is", async () => {
        const one = await made();
        await fannedOut(1, delivery(one.id, 1));
        const [lent] = await claim();
        const failed = attempt({ status: 503, failure: "status", answer: "busy", tookMs: 12 });
        await settle(lent, after(5_000), { attempt: failed });
        expect(await elsewhere.deliveries.find(lent!.id)).toMatchObject({
          status: "pending",
          attempts: 1,
          dueAt: after(5_000),
          settledAt: null,
          lastAttempt: failed,
        });
        const [again] = await claim({ now: after(5_000) });
        expect(again?.attempts).toBe(1);
        await settle(again, "delivered", { attempt: attempt({ status: 200, at: after(6_000) }) });
        expect(await elsewhere.deliveries.find(lent!.id)).toMatchObject({
          status: "delivered",
          attempts: 2,
          dueAt: null,
          settledAt: after(6_000),
        });
      });

      it("are failed by nobody but the one who has them; a success counts from anyone, once", async () => {
        const one = await made();
        await fannedOut(1, delivery(one.id, 1));
        const [lent] = await claim();
        await settle(lent, "failed", { owner: "there" });
        expect(await store.deliveries.find(lent!.id)).toMatchObject({ status: "pending", attempts: 0 });
        await settle(lent, "delivered", { owner: "there" });
        await settle(lent, "failed");
        expect(await store.deliveries.find(lent!.id)).toMatchObject({ status: "delivered", attempts: 1 });
      });

      it("are listed by status, the newest first, page by page", async () => {
        const one = await made();
        await fannedOut(5, ...Array.from({ length: 5 }, (_, at) => delivery(one.id, at + 1)));
        const [a, b] = await claim();
        await settle(a, "delivered");
        await settle(b, "failed");
        const statuses = async (query: object) =>
          (await elsewhere.deliveries.list(one.id, { limit: 10, ...query })).data.map(({ status }) => status);
        expect(await statuses({})).toEqual(["pending", "pending", "pending", "failed", "delivered"]);
        expect(await statuses({ status: "failed" })).toEqual(["failed"]);
        const first = await store.deliveries.list(one.id, { limit: 3 });
        const second = await store.deliveries.list(one.id, { limit: 3, cursor: first.nextCursor! });
        expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(
          (await store.deliveries.list(one.id, { limit: 10 })).data.map(({ id }) => id),
        );
        expect(second.nextCursor).toBeNull();
        await expect(store.deliveries.list(one.id, { limit: 1, cursor: "??" })).rejects.toThrow(
          InvalidCursorError,
        );
      });

      it("are made pending again from their first attempt on, and added where they are not there", async () => {
        const one = await made();
        await fannedOut(1, delivery(one.id, 1, { eventId: "e1", body: "kept" }));
        const [lent] = await claim();
        await settle(lent, "failed");
        await store.queue.enqueue([
          delivery(one.id, 1, { eventId: "e1", body: "other", createdAt: after(1) }),
          delivery(one.id, 2, { eventId: "e2", createdAt: after(1) }),
        ]);
        const again = await claim({ now: after(1) });
        expect(again.map(({ eventId, body, attempts }) => ({ eventId, body, attempts }))).toEqual([
          { eventId: "e1", body: "kept", attempts: 0 },
          { eventId: "e2", body: "{}", attempts: 0 },
        ]);
        await store.queue.enqueue([delivery(one.id, 1, { eventId: "e1" })]);
        expect(await claim({ now: after(1) })).toEqual([]);
      });

      it("count as a backlog with the one that is due longest", async () => {
        expect(await store.queue.backlog(NOON)).toEqual({ pending: 0, oldestDueAt: null });
        const one = await made();
        await fannedOut(
          2,
          delivery(one.id, 1, { createdAt: after(-5) }),
          delivery(one.id, 2, { createdAt: after(5) }),
        );
        expect(await store.queue.backlog(NOON)).toEqual({ pending: 2, oldestDueAt: after(-5) });
      });

      it("are dropped when they were settled long ago, and those of deleted endpoints, and no others", async () => {
        const [one, gone] = [await made(), await made()];
        await fannedOut(3, delivery(one.id, 1), delivery(one.id, 2), delivery(gone.id, 3));
        const [old] = await claim({ limit: 1 });
        await settle(old, "delivered");
        await store.endpoints.delete(gone.id, NOON);
        await store.deliveries.tend({ now: NOON, settledBefore: NOON, limit: 100 });
        expect((await store.deliveries.list(one.id, { limit: 10 })).data).toHaveLength(2);
        await store.deliveries.tend({ now: NOON, settledBefore: after(1), limit: 100 });
        expect((await store.deliveries.list(one.id, { limit: 10 })).data).toHaveLength(1);
        expect((await store.deliveries.list(gone.id, { limit: 10 })).data).toEqual([]);
      });
    });

    describe("an endpoint that fails", () => {
      async function failing(at: Date, more: Partial<Settlement> = {}): Promise<WebhookEndpoint | null> {
        const one = (await store.endpoints.list(ACME, { limit: 1 })).data[0] ?? (await made());
        const position = (await store.fanOut.state()).position + 1;
        await fannedOut(position, delivery(one.id, position, { createdAt: at }));
        const [lent] = await claim({ now: at });
        await settle(lent, "failed", { attempt: attempt({ at, failure: "status" }), ...more });
        return store.endpoints.find(one.id);
      }
      const told = (since: Date | null = null): Settlement["disable"] => ({
        reason: since === null ? "gone" : "failing",
        ifFailingSince: since,
        event: disabledEvent(),
      });

      it("has failed since the first failure, until something is delivered", async () => {
        expect(await failing(NOON)).toMatchObject({ failing: { since: NOON, last: NOON } });
        expect(await failing(after(HOUR_MS))).toMatchObject({
          failing: { since: NOON, last: after(HOUR_MS) },
        });
        expect(await failing(after(2 * HOUR_MS), { next: "delivered" })).toMatchObject({ failing: null });
        expect(await failing(after(3 * HOUR_MS))).toMatchObject({ failing: { since: after(3 * HOUR_MS) } });
      });

      it("begins to fail anew after two days without any attempt", async () => {
        await failing(NOON);
        expect(await failing(after(48 * HOUR_MS))).toMatchObject({ failing: { since: NOON } });
        expect(await failing(after(97 * HOUR_MS))).toMatchObject({ failing: { since: after(97 * HOUR_MS) } });
      });

      it("is disabled with an event in the feed, once", async () => {
        await failing(NOON);
        const disabled = await failing(after(HOUR_MS), { disable: told(NOON) });
        expect(disabled?.disabled).toEqual({ at: after(HOUR_MS), reason: "failing" });
        const { events } = await harness.feed.read({ after: 0, limit: 10 });
        expect(events).toMatchObject([
          {
            type: "webhook_endpoint.disabled",
            merchant: ACME,
            paymentId: null,
            content: { webhookEndpoint: { id: "w1" } },
          },
        ]);
        expect(await store.endpoints.countDisabled()).toBe(1);
        const off = await store.endpoints.list(null, { limit: 10, disabled: true });
        expect(off.data.map(({ disabled: since }) => since === null)).toEqual([false]);
        expect((await store.endpoints.list(ACME, { limit: 10, disabled: true })).data).toEqual(off.data);
        expect(await store.endpoints.listeners()).toEqual([]);
      });

      it("stays enabled when something was delivered since it was judged", async () => {
        await failing(NOON);
        await failing(after(1), { next: "delivered" });
        await failing(after(2), { disable: told(NOON) });
        expect(await store.endpoints.countDisabled()).toBe(0);
        expect((await harness.feed.read({ after: 0, limit: 10 })).events).toEqual([]);
      });

      it("keeps what is pending, which goes on when it is enabled again, without its past", async () => {
        const one = (await failing(NOON, { disable: told() }))!;
        expect(one.disabled).toMatchObject({ reason: "gone" });
        expect(one.failing).toMatchObject({ since: NOON });
        await fannedOut(9, delivery(one.id, 9));
        expect(await claim()).toEqual([]);
        expect(await store.endpoints.change(one.id, { disabled: null, updatedAt: NOON })).toMatchObject({
          disabled: null,
          failing: null,
        });
        expect(await claim()).toHaveLength(1);
      });
    });
  });
}

function settlementOf(
  claimed: ClaimedDelivery | undefined,
  next: Settlement["next"],
  more: Partial<Settlement> = {},
): Settlement {
  return {
    deliveryId: claimed!.id,
    endpointId: claimed!.endpointId,
    line: claimed!.line,
    attempt: attempt({ failure: next === "delivered" ? null : "status" }),
    next,
    disable: null,
    ...more,
  };
}

let made = 0;

/** Ascending, as those of the program are. */
function newId(): string {
  made += 1;
  return `019aa2b4-7c00-7000-8000-${made.toString(16).padStart(12, "0")}`;
}

export function endpoint(change: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  return {
    id: parseWebhookEndpointId(newId()),
    merchant: ACME,
    url: "https://hooks.example.com/",
    types: null,
    description: null,
    ordered: true,
    secrets: { current: "sealed-1", previous: null },
    createdAt: NOON,
    updatedAt: NOON,
    disabled: null,
    failing: null,
    ...change,
  };
}

export function delivery(
  endpointId: WebhookEndpointId,
  position: number,
  change: Partial<NewDelivery> = {},
): NewDelivery {
  const id = parseWebhookDeliveryId(newId());
  return {
    id,
    endpointId,
    eventId: `event of ${id}`,
    eventType: "payment.captured",
    eventAt: NOON,
    line: `line of ${id}`,
    position,
    body: "{}",
    createdAt: NOON,
    ...change,
  };
}

function attempt(change: Partial<LastAttempt> = {}): LastAttempt {
  return { at: NOON, status: 200, failure: null, answer: "", tookMs: 1, ...change };
}

function disabledEvent(): NewPublicEvent {
  return {
    id: newId(),
    type: "webhook_endpoint.disabled",
    at: NOON,
    merchant: ACME,
    paymentId: null,
    content: { webhookEndpoint: { id: "w1" } },
  };
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
