import { entryOf, type Act, type Done } from "../../../src/application/audit/act";
import { ManageApiKeys } from "../../../src/application/use-cases/manage-api-keys";
import { ManageMerchantAccounts } from "../../../src/application/use-cases/manage-merchant-accounts";
import { RedeliverWebhooks } from "../../../src/application/webhooks/redeliver-webhooks";
import { ManageWebhookEndpoints } from "../../../src/application/webhooks/manage-webhook-endpoints";
import { webhookLimits } from "../../../src/application/webhooks/webhook-limits";
import type { ApiKeyStore } from "../../../src/application/ports/api-key-store";
import type { AuditQuery, AuditTrail } from "../../../src/application/ports/audit/audit-trail";
import type { EventFeed } from "../../../src/application/ports/events/event-feed";
import type { WebhookStore } from "../../../src/application/ports/events/webhook-store";
import type { MerchantAccountStore } from "../../../src/application/ports/accounts/merchant-account-store";
import {
  InvalidCursorError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import { parseMerchantId, type PaymentId } from "../../../src/domain/identifiers";
import type { WebhookEndpointId } from "../../../src/domain/webhooks/webhook-endpoint";
import { PaymentsWorld } from "../../support/worlds/payments-world";

export interface AuditHarness {
  readonly trail: AuditTrail;
  readonly payments: PaymentRepository;
  readonly apiKeys: ApiKeyStore;
  readonly merchantAccounts: MerchantAccountStore;
  readonly webhooks: WebhookStore;
  readonly feed: EventFeed;
  close(): Promise<void>;
}

/** What can only happen where entries are in a database. */
export interface DatabaseHarness extends AuditHarness {
  /** From now on no entry can be written. */
  readonly loseEntries: () => Promise<void>;
  /** What a person at the database might try. */
  readonly tamper: (statement: "change" | "drop") => Promise<unknown>;
}

const ACME = parseMerchantId("acme");
const act: Act = {
  actor: { type: "api_key", id: "key-1" },
  origin: { over: "http", address: "192.0.2.7", requestId: "request-1" },
  reason: "ticket 4711",
};
const atDesk: Act = {
  actor: { type: "user", name: "kim" },
  origin: { over: "command", host: "pay-1" },
  reason: null,
};

/** What the audit promises, for each act that it knows, on one store. */
export function describeAuditTrail(
  name: string,
  make: () => Promise<AuditHarness>,
  inDatabase?: (harness: AuditHarness) => DatabaseHarness,
): void {
  describe(`${name} keeps what people did`, () => {
    let harness: AuditHarness;
    let world: PaymentsWorld;
    let keys: ManageApiKeys;
    let accounts: ManageMerchantAccounts;
    let endpoints: ManageWebhookEndpoints;
    let deliveries: RedeliverWebhooks;
    beforeEach(async () => {
      harness = await make();
      world = new PaymentsWorld({ payments: harness.payments });
      const { clock } = world;
      const { ids } = world.context;
      keys = new ManageApiKeys(harness.apiKeys, clock, ids, () => `hf_${ids.nextId()}`);
      const box = {
        seal: (text: string) => `sealed ${text}`,
        open: (text: string) => text.slice(7),
        assertKeyOf: () => {},
      };
      accounts = new ManageMerchantAccounts(
        harness.merchantAccounts,
        clock,
        ids,
        async () => box,
        async () => ({ outcome: "found", account: "acct_own" }),
        null,
      );
      const parts = {
        store: harness.webhooks,
        feed: harness.feed,
        secrets: box,
        clock,
        ids,
        limits: { ...webhookLimits, endpoints: 2, batch: 2 },
      };
      endpoints = new ManageWebhookEndpoints({
        ...parts,
        destinations: { assertAllowed: async (url) => url },
        randomBytes: (size) => new Uint8Array(size),
        onListening: () => {},
      });
      deliveries = new RedeliverWebhooks({ ...parts, endpoints, onEnqueued: () => {} });
    });
    afterEach(() => harness.close());

    const wish = { url: "https://shop.example/hooks", types: null, description: null, ordered: true };
    const entries = async (query: Partial<AuditQuery> = {}) =>
      (await harness.trail.list({ limit: 100, ...query })).data;
    const kinds = async () => (await entries()).map(({ kind }) => kind).reverse();
    const madeEndpoint = async () => (await endpoints.create(ACME, wish, act)).endpoint.id;
    const tick = () => world.clock.advance(1);

    /** A payment whose capture only a person can decide. */
    async function inReview(): Promise<PaymentId> {
      const id = await world.authorize("tok_capture_timeout_captured");
      await world.capture(id, "k");
      world.clock.advance(10_000);
      world.gateway.answersQuestions({ outcome: "mismatch", evidence: "another amount" });
      await world.reconcile();
      world.gateway.answersQuestions({ outcome: "unknown", reason: "silent" });
      return id;
    }
    const captureOf = async (id: PaymentId) =>
      (await world.payment(id)).facts.operations.find(({ kind }) => kind === "capture")!;

    /** Every act, in its own words: what is done, and what shows that it was. */
    const acts: readonly (readonly [
      what: string,
      kind: string,
      prepare: () => Promise<{ readonly go: () => Promise<unknown>; readonly state: () => Promise<unknown> }>,
    ])[] = [
      [
        "creates a key",
        "api_key.created",
        async () => ({
          go: () => keys.create({ merchant: ACME, operator: true, name: "till" }, act),
          state: () => harness.apiKeys.list(),
        }),
      ],
      [
        "revokes a key",
        "api_key.revoked",
        async () => {
          const { key } = await keys.create({ merchant: ACME, operator: true, name: null }, act);
          return { go: () => keys.revoke(key.id, act), state: () => harness.apiKeys.list() };
        },
      ],
      [
        "sets a merchant's account",
        "merchant_account.set",
        async () => ({
          go: () => accounts.set(ACME, "acct_1", act),
          state: () => harness.merchantAccounts.list(),
        }),
      ],
      [
        "takes a merchant's account away",
        "merchant_account.unset",
        async () => {
          await accounts.set(ACME, "acct_1", act);
          return { go: () => accounts.unset(ACME, act), state: () => harness.merchantAccounts.list() };
        },
      ],
      [
        "forgets an account",
        "merchant_account.forgotten",
        async () => {
          await accounts.set(ACME, "acct_1", act);
          await accounts.unset(ACME, act);
          return { go: () => accounts.forget("acct_1", act), state: () => harness.merchantAccounts.known() };
        },
      ],
      [
        "makes a webhook endpoint",
        "webhook_endpoint.created",
        async () => ({
          go: () => endpoints.create(ACME, wish, act),
          state: () => endpoints.list(ACME, { limit: 10 }),
        }),
      ],
      ...(
        [
          ["changes a webhook endpoint", "changed", (id) => endpoints.change(id, ACME, { types: [] }, act)],
          [
            "disables a webhook endpoint",
            "disabled",
            (id) => endpoints.change(id, ACME, { enabled: false }, act),
          ],
          ["deletes a webhook endpoint", "deleted", (id) => endpoints.delete(id, ACME, act)],
          ["rotates a secret", "secret_rotated", (id) => endpoints.rotateSecret(id, ACME, 60, act)],
        ] as readonly [string, string, (id: WebhookEndpointId) => Promise<unknown>][]
      ).map(
        ([what, kind, go]) =>
          [
            what,
            `webhook_endpoint.${kind}`,
            async () => {
              const id = await madeEndpoint();
              return { go: () => go(id), state: () => endpoints.list(ACME, { limit: 10 }) };
            },
          ] as const,
      ),
      [
        "enables a webhook endpoint",
        "webhook_endpoint.enabled",
        async () => {
          const id = await madeEndpoint();
          await endpoints.change(id, ACME, { enabled: false }, act);
          return {
            go: () => endpoints.change(id, ACME, { enabled: true }, act),
            state: () => endpoints.list(ACME, { limit: 10 }),
          };
        },
      ],
      [
        "sends a test event",
        "webhook_endpoint.tested",
        async () => {
          const id = await madeEndpoint();
          return {
            go: () => deliveries.test(id, ACME, act),
            state: () => deliveries.list(id, ACME, { limit: 10 }),
          };
        },
      ],
      [
        "delivers once more",
        "webhook_delivery.redelivered",
        async () => {
          const id = await madeEndpoint();
          const delivery = await deliveries.test(id, ACME, act);
          const { queue } = harness.webhooks;
          const one = { owner: "here", leaseMs: 1_000, now: world.clock.now() };
          await queue.claim({ ...one, perEndpoint: 1, alone: 1, limit: 1 });
          const attempt = { at: world.clock.now(), status: 200, failure: null, answer: "", tookMs: 1 };
          const settled = { deliveryId: delivery.id, endpointId: id, line: delivery.eventId, attempt };
          await queue.settle("here", [{ ...settled, next: "delivered", disable: null }]);
          return {
            go: () => deliveries.redeliver(delivery.id, ACME, act),
            state: () => harness.webhooks.deliveries.find(delivery.id),
          };
        },
      ],
      [
        "replays events",
        "webhook_endpoint.replayed",
        async () => {
          const id = await madeEndpoint();
          const from = world.clock.now();
          for (let n = 0; n < 3; n += 1) await world.authorize();
          return {
            go: () => deliveries.replay(id, ACME, { from, to: world.clock.now() }, act),
            state: () => deliveries.list(id, ACME, { limit: 10 }),
          };
        },
      ],
      [
        "decides a review",
        "review.resolved",
        async () => {
          const id = await inReview();
          const { id: operation } = await captureOf(id);
          return { go: () => world.review(operation), state: async () => (await captureOf(id)).status };
        },
      ],
    ];

    it.each(acts)("one who %s leaves one entry with it", async (_what, kind, prepare) => {
      const { go, state } = await prepare();
      const [before, shownBefore] = [await kinds(), await state()];
      tick();
      await go();
      expect((await kinds()).slice(before.length)).toEqual([kind]);
      expect(await state()).not.toEqual(shownBefore);
    });

    if (inDatabase !== undefined) {
      it.each(acts)(
        "one who %s has done nothing if there is no entry of it",
        async (_what, _kind, prepare) => {
          const { go, state } = await prepare();
          const before = await state();
          await inDatabase(harness).loseEntries();
          tick();
          await expect(go()).rejects.toThrow();
          expect(await state()).toEqual(before);
        },
      );

      it.each(["change", "drop"] as const)("nobody can %s an entry of the audit", async (statement) => {
        await accounts.set(ACME, "acct_1", act);
        const before = await entries();
        await expect(inDatabase(harness).tamper(statement)).rejects.toThrow(/never changed or dropped/);
        expect(await entries()).toEqual(before);
      });
    }

    it("the audit says who did what to what, when, from where and why", async () => {
      const { key } = await keys.create({ merchant: ACME, operator: true, name: "till" }, act);
      tick();
      await accounts.setKey(ACME, { key: "sk_secret" }, "acct_own", atDesk);
      const [set, keySet, created] = await entries();
      expect(created).toEqual({
        id: expect.any(String),
        at: key.createdAt,
        kind: "api_key.created",
        ...act,
        subject: key.id,
        merchant: ACME,
        paymentId: null,
        details: { operator: true, name: "till" },
      });
      expect(keySet).toMatchObject({ kind: "merchant_account.key_set", ...atDesk, subject: "acct_own" });
      expect(set).toMatchObject({ kind: "merchant_account.set", ...atDesk, merchant: ACME });
      expect(JSON.stringify(await entries())).not.toMatch(/sk_secret|hf_|whsec/);
    });

    it("the audit has a verdict with its payment, its evidence, and what the gateway said", async () => {
      const id = await inReview();
      const { id: operation } = await captureOf(id);
      await world.review(operation, { evidence: "the dashboard shows it" });
      expect(await entries({ paymentId: id })).toMatchObject([
        {
          kind: "review.resolved",
          subject: operation,
          merchant: world.merchant,
          reason: "the dashboard shows it",
          details: { outcome: "moved", gateway: "unknown" },
        },
      ]);
    });

    it("the audit tells a verdict against the gateway by a kind of its own, with the reason that was given", async () => {
      const id = await inReview();
      const { id: operation } = await captureOf(id);
      world.gateway.answersQuestions({ outcome: "succeeded", reference: "there" });
      const overrideReason = "their support confirmed that it was rolled back";
      await world.review(operation, { outcome: "not_moved", evidence: "a call", overrideReason });
      expect(await entries({ kind: "review.overridden" })).toMatchObject([
        { reason: overrideReason, details: { evidence: "a call", gateway: "succeeded" } },
      ]);
    });

    it("what changed nothing leaves no entry in the audit", async () => {
      const { key } = await keys.create({ merchant: ACME, operator: true, name: null }, act);
      await keys.revoke(key.id, act);
      await madeEndpoint();
      await madeEndpoint();
      const before = await kinds();
      await keys.revoke(key.id, act);
      await keys.revoke(world.context.ids.nextId(), act);
      expect(await accounts.unset(ACME, act)).toBe(false);
      expect(await accounts.forget("acct_1", act)).toBe(false);
      await expect(madeEndpoint()).rejects.toThrow(/at most 2/);
      const id = await inReview();
      const { id: operation } = await captureOf(id);
      world.gateway.answersQuestions({ outcome: "succeeded", reference: "there" });
      await expect(world.review(operation, { outcome: "not_moved" })).rejects.toThrow(/contradicts/);
      expect(await kinds()).toEqual(before);
    });

    describe("pages of it", () => {
      const done = (n: number, change: Partial<Done> = {}) =>
        entryOf(
          n % 2 === 0 ? act : atDesk,
          { kind: n % 3 === 0 ? "lock.broken" : "api_key.revoked", subject: `n${n}`, ...change },
          { clock: world.clock, ids: world.context.ids },
        );
      const subjects = async (query: Partial<AuditQuery>) =>
        (await entries(query)).map(({ subject }) => subject);

      it("entries are listed newest first, each on one page, also those of one instant", async () => {
        for (let n = 0; n < 7; n += 1) {
          if (n % 3 === 0) tick();
          await harness.trail.add(done(n));
        }
        const seen: string[] = [];
        for (let cursor: string | undefined; ;) {
          const page = await harness.trail.list({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
          expect(page.data.length).toBeLessThanOrEqual(2);
          seen.push(...page.data.map(({ subject }) => subject));
          if (page.nextCursor === null) break;
          cursor = page.nextCursor;
        }
        expect(seen).toEqual(["n6", "n5", "n4", "n3", "n2", "n1", "n0"]);
        await expect(harness.trail.list({ limit: 2, cursor: "bm9uZQ" })).rejects.toThrow(InvalidCursorError);
      });

      it("entries are found by time, actor, kind and payment", async () => {
        const paymentId = await world.authorize();
        const times: Date[] = [];
        for (let n = 0; n < 6; n += 1) {
          tick();
          times.push(world.clock.now());
          await harness.trail.add(done(n, n === 4 ? { paymentId } : {}));
        }
        expect(await subjects({ from: times[2]!, to: times[4]! })).toEqual(["n3", "n2"]);
        expect(await subjects({ actor: "key-1" })).toEqual(["n4", "n2", "n0"]);
        expect(await subjects({ actor: "kim" })).toEqual(["n5", "n3", "n1"]);
        expect(await subjects({ kind: "lock.broken" })).toEqual(["n3", "n0"]);
        expect(await subjects({ paymentId })).toEqual(["n4"]);
        expect(await subjects({ actor: "kim", kind: "lock.broken" })).toEqual(["n3"]);
        expect(await subjects({ actor: "nobody" })).toEqual([]);
      });
    });
  });
}
