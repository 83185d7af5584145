import { anAct } from "../an-act";
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { WebhookStore } from "../../../src/application/ports/events/webhook-store";
import { DispatchWebhooks } from "../../../src/application/webhooks/dispatch-webhooks";
import { ManageWebhookEndpoints } from "../../../src/application/webhooks/manage-webhook-endpoints";
import type { WebhookContext } from "../../../src/application/webhooks/webhook-context";
import { webhookLimits } from "../../../src/application/webhooks/webhook-limits";
import { parseMerchantId, parsePaymentId } from "../../../src/domain/identifiers";
import { UuidV7Generator } from "../../../src/infrastructure/identity/uuid-v7-generator";
import { InMemoryEventFeed } from "../../../src/infrastructure/persistence/memory/in-memory-event-feed";
import { AesSecretBox } from "../../../src/infrastructure/secrets/aes-secret-box";
import { parseSecretsKeys } from "../../../src/infrastructure/secrets/secrets-keys";
import { SystemClock } from "../../../src/infrastructure/time/system-clock";
import { UndiciWebhookSender } from "../../../src/infrastructure/webhooks/undici-webhook-sender";
import { WebhookReceiver, type ReceivedWebhook } from "./webhook-receiver";

export interface CrowdOptions {
  readonly store: WebhookStore;
  /** The two that make trouble included. */
  readonly endpoints: number;
}

/** What the healthy ones take for each: as over the Internet, and more than a busy machine adds. */
const HEALTHY_MS = 100;
const SLOW_MS = 1_000;
/**
 * Each time it is another endpoint's turn. As many at once as one endpoint may get at once: where it gets fewer, because
 * others have its places, the last of them is late.
 */
const EVENTS_AT_ONCE = 4;
/** The two get an event in every second turn: half of what they take while they are healthy, and far more than they do else. */
const TROUBLED_TURN = 2;
/** Sixteen of the others' are under way at a time, and there is room for them. */
const BETWEEN_TURNS_MS = 25;
const ARRIVED_WITHIN_MS = 60_000;

/**
 * Many endpoints and one dispatcher, on a real store and over real connections. Two of the endpoints can be made dead and
 * slow, and healthy again. In all other respects the work is always the same, so that two halves of one run can be compared.
 */
export class CrowdOfEndpoints {
  /** When each event of the others was published, and how long it took to arrive. */
  private readonly published = new Map<string, number>();
  private readonly lags = new Map<string, number>();
  /** What the dead one has taken and said nothing about. */
  private readonly held: (() => void)[] = [];
  private isTroubled = false;
  private turn = 0;

  private constructor(
    private readonly context: WebhookContext & { readonly feed: InMemoryEventFeed },
    private readonly sender: UndiciWebhookSender,
    private readonly receiver: WebhookReceiver,
    private readonly dispatch: DispatchWebhooks,
    private readonly others: readonly string[],
  ) {
    receiver.answer = (webhook, response) => this.receive(webhook, () => response.writeHead(204).end());
  }

  static async open({ store, endpoints: count }: CrowdOptions): Promise<CrowdOfEndpoints> {
    const receiver = await WebhookReceiver.open();
    const clock = new SystemClock();
    const key = randomBytes(32).toString("base64");
    const sender = new UndiciWebhookSender({ http: true, private: true });
    const context = {
      store,
      feed: new InMemoryEventFeed(),
      sender,
      secrets: new AesSecretBox(() => parseSecretsKeys(key, "the crowd")),
      clock,
      wallClock: clock,
      monotonicMs: () => performance.now(),
      ids: new UuidV7Generator(clock),
      random: Math.random,
      observer: { attempted: () => {}, disabled: () => {}, failed: () => {} },
      limits: webhookLimits,
    };
    const manage = new ManageWebhookEndpoints({
      ...context,
      destinations: { assertAllowed: async (url) => url },
      randomBytes,
      // All are there before the dispatcher begins.
      onListening: () => {},
    });
    const others = Array.from({ length: count - 2 }, (_, at) => `m${at}`);
    for (const name of [...others, "slow", "dead"]) {
      const wish = { url: `${receiver.url}/${name}`, types: null, description: null, ordered: true };
      await manage.create(parseMerchantId(name), wish, anAct);
    }
    const dispatch = new DispatchWebhooks(context);
    dispatch.start();
    return new CrowdOfEndpoints(context, sender, receiver, dispatch, others);
  }

  /** The 99th percentile of the time from an event to its arrival, in milliseconds, of all endpoints but the two. */
  async p99Lag(events: number, { withTrouble }: { readonly withTrouble: boolean }): Promise<number> {
    this.published.clear();
    this.lags.clear();
    this.isTroubled = withTrouble;
    while (this.published.size < events) {
      const name = this.others[this.turn % this.others.length]!;
      for (let at = 0; at < EVENTS_AT_ONCE; at += 1) {
        // Before it is published: its receiver may have it in the same turn.
        const id = this.context.ids.nextId();
        this.published.set(id, performance.now());
        this.publish(name, id);
      }
      if (this.turn % TROUBLED_TURN === 0)
        for (const troubled of ["slow", "dead"]) this.publish(troubled, this.context.ids.nextId());
      this.turn += 1;
      await pause(BETWEEN_TURNS_MS);
    }
    await this.until(() => this.lags.size === this.published.size);
    await this.recover();
    const sorted = [...this.lags.values()].sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length * 0.99)]!;
  }

  async close(): Promise<void> {
    await this.dispatch.stop(100);
    await this.sender.close();
    await this.receiver.close();
  }

  private receive({ id, path }: ReceivedWebhook, answer: () => void): void {
    const publishedMs = this.published.get(id);
    if (publishedMs !== undefined && !this.lags.has(id)) this.lags.set(id, performance.now() - publishedMs);
    if (this.isTroubled && path === "/dead") this.held.push(answer);
    else setTimeout(answer, this.isTroubled && path === "/slow" ? SLOW_MS : HEALTHY_MS);
  }

  private publish(merchant: string, id: string): void {
    const payment = randomUUID();
    const content = { payment: { id: payment }, operation: null };
    const paymentId = parsePaymentId(payment);
    const type = "payment.captured";
    this.context.feed.append([
      { id, type, at: new Date(), merchant: parseMerchantId(merchant), paymentId, content },
    ]);
  }

  /** The two are healthy again, and have got what was waiting for them: nothing of it is left for what follows. */
  private async recover(): Promise<void> {
    this.isTroubled = false;
    for (const answer of this.held.splice(0)) answer();
    const { store, feed, clock } = this.context;
    await this.until(async () => {
      const { position } = await store.fanOut.state();
      return (
        position === (await feed.latest()) && (await store.queue.backlog(clock.now())).oldestDueAt === null
      );
    });
  }

  private async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = performance.now() + ARRIVED_WITHIN_MS;
    while (!(await isSo())) {
      if (performance.now() > deadline) throw new Error("webhooks stay away");
      await pause(20);
    }
  }
}
