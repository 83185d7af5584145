import { anAct } from "../an-act";
import { randomBytes, randomUUID } from "node:crypto";
import type {
  AttemptOutcome,
  WebhookRequest,
  WebhookSender,
} from "../../../src/application/ports/events/webhook-sender";
import type { WebhookDelivery } from "../../../src/application/ports/events/webhook-delivery-store";
import type { PublicEventType } from "../../../src/application/public-events/public-event";
import { DispatchWebhooks } from "../../../src/application/webhooks/dispatch-webhooks";
import {
  ManageWebhookEndpoints,
  type EndpointWish,
} from "../../../src/application/webhooks/manage-webhook-endpoints";
import { RedeliverWebhooks } from "../../../src/application/webhooks/redeliver-webhooks";
import type { WebhookContext } from "../../../src/application/webhooks/webhook-context";
import { webhookLimits, type WebhookLimits } from "../../../src/application/webhooks/webhook-limits";
import { parseMerchantId, parsePaymentId } from "../../../src/domain/identifiers";
import type { WebhookEndpoint } from "../../../src/domain/webhooks/webhook-endpoint";
import { SandboxClock } from "../../../src/application/sandboxes/world/sandbox-clock";
import { InMemoryEventFeed } from "../../../src/infrastructure/persistence/memory/in-memory-event-feed";
import { InMemoryWebhookStore } from "../../../src/infrastructure/persistence/memory/webhooks/in-memory-webhook-store";
import { UuidV7Generator } from "../../../src/infrastructure/identity/uuid-v7-generator";
import { AesSecretBox } from "../../../src/infrastructure/secrets/aes-secret-box";
import { parseSecretsKeys } from "../../../src/infrastructure/secrets/secrets-keys";
import { NOON } from "./payments";

export const ACME = parseMerchantId("acme");

export interface SentWebhook extends WebhookRequest {
  readonly id: string;
  readonly at: Date;
}

export const answered = (status: number, more: Partial<AttemptOutcome> = {}): AttemptOutcome => ({
  result: status >= 200 && status < 300 ? "delivered" : status === 410 ? "gone" : "failed",
  status,
  failure: status >= 200 && status < 300 ? null : "status",
  retryAfterMs: null,
  answer: "",
  tookMs: 1,
  ...more,
});

/** Answers as it is told, by URL, and remembers everything. */
export class ScriptedReceivers implements WebhookSender {
  readonly sent: SentWebhook[] = [];
  underway = 0;
  mostUnderway = 0;
  private readonly answers = new Map<string, () => Promise<AttemptOutcome> | AttemptOutcome>();

  constructor(private readonly now: () => Date) {}

  answer(url: string, answer: () => Promise<AttemptOutcome> | AttemptOutcome): void {
    this.answers.set(url, answer);
  }

  async send(request: WebhookRequest): Promise<AttemptOutcome> {
    this.sent.push({ ...request, id: String(request.headers["webhook-id"]), at: this.now() });
    this.underway += 1;
    this.mostUnderway = Math.max(this.mostUnderway, this.underway);
    try {
      return await (this.answers.get(request.url)?.() ?? answered(200));
    } finally {
      this.underway -= 1;
    }
  }

  to(url: string): readonly SentWebhook[] {
    return this.sent.filter((one) => one.url === url);
  }
}

/** Webhooks on a clock that stands still, with receivers that answer as they are told. */
export class WebhookWorld {
  readonly clock = new SandboxClock(NOON);
  readonly feed = new InMemoryEventFeed();
  readonly store = new InMemoryWebhookStore((event) => this.feed.append([event]));
  readonly receivers = new ScriptedReceivers(() => this.clock.now());
  readonly failures: unknown[] = [];
  readonly disabled: string[] = [];
  readonly context: WebhookContext;
  readonly dispatch: DispatchWebhooks;
  readonly endpoints: ManageWebhookEndpoints;
  readonly deliveries: RedeliverWebhooks;
  keys = randomBytes(32).toString("base64");

  constructor(change: Partial<WebhookContext> & { readonly limits?: WebhookLimits } = {}) {
    this.context = {
      store: this.store,
      feed: this.feed,
      sender: this.receivers,
      secrets: new AesSecretBox(() => parseSecretsKeys(this.keys, "the test")),
      clock: this.clock,
      wallClock: { now: () => new Date() },
      monotonicMs: () => performance.now(),
      ids: new UuidV7Generator(this.clock),
      random: () => 0.5,
      observer: {
        attempted: () => {},
        disabled: (_id, reason) => this.disabled.push(reason),
        failed: (error) => this.failures.push(error),
      },
      limits: { ...webhookLimits, leaseMs: 60_000 },
      ...change,
    };
    this.dispatch = new DispatchWebhooks(this.context);
    this.endpoints = new ManageWebhookEndpoints({
      ...this.context,
      destinations: { assertAllowed: async (url) => url },
      randomBytes,
      onListening: () => this.dispatch.nudge(),
    });
    this.deliveries = new RedeliverWebhooks({
      ...this.context,
      endpoints: this.endpoints,
      onEnqueued: () => this.dispatch.nudge(),
    });
  }

  async endpoint(wish: Partial<EndpointWish> & { readonly merchant?: string } = {}): Promise<{
    endpoint: WebhookEndpoint;
    secret: string;
    url: string;
  }> {
    const { merchant = "acme", ...rest } = wish;
    const url = rest.url ?? `https://${randomUUID()}.example.com/`;
    const made = await this.endpoints.create(
      parseMerchantId(merchant),
      {
        types: null,
        description: null,
        ordered: true,
        ...rest,
        url,
      },
      anAct,
    );
    return { ...made, url };
  }

  /** Resolves with its id. */
  publish(
    type: PublicEventType = "payment.captured",
    payment: string = randomUUID(),
    merchant = "acme",
  ): string {
    const id = this.context.ids.nextId();
    this.feed.append([
      {
        id,
        type,
        at: this.clock.now(),
        merchant: parseMerchantId(merchant),
        paymentId: parsePaymentId(payment),
        content: { payment: { id: payment, reference: "Grüße 🏦" }, operation: null },
      },
    ]);
    return id;
  }

  /** As a sandbox does it: from due time to due time. */
  async advance(ms: number): Promise<void> {
    const target = new Date(this.clock.now().getTime() + ms);
    await this.dispatch.drain();
    for (
      let due = await this.store.queue.nextDueAt();
      due !== null && due <= target;
      due = await this.store.queue.nextDueAt()
    ) {
      this.clock.forwardTo(due);
      await this.dispatch.drain();
    }
    this.clock.forwardTo(target);
    await this.dispatch.drain();
  }

  async all(endpoint: WebhookEndpoint): Promise<readonly WebhookDelivery[]> {
    return (await this.store.deliveries.list(endpoint.id, { limit: 1_000 })).data;
  }
}
