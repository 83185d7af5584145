import type { Container } from "inversify";
import type { SecretBox } from "../../../src/application/ports/events/secret-box";
import { DispatchWebhooks } from "../../../src/application/webhooks/dispatch-webhooks";
import { ManageWebhookEndpoints } from "../../../src/application/webhooks/manage-webhook-endpoints";
import { RedeliverWebhooks } from "../../../src/application/webhooks/redeliver-webhooks";
import type { WebhookContext } from "../../../src/application/webhooks/webhook-context";
import { webhookLimits } from "../../../src/application/webhooks/webhook-limits";
import type { OpenWebhooks } from "../../../src/infrastructure/composition/opening/open-webhooks";
import { tokens } from "../../../src/infrastructure/composition/container/tokens";
import { webhookTelemetry } from "../../../src/infrastructure/telemetry/webhook-telemetry";
import type {
  AttemptOutcome,
  WebhookRequest,
  WebhookSender,
} from "../../../src/application/ports/events/webhook-sender";
import type { SeededRandom } from "../lease/seeded-random";
import type { Network } from "./network";
import type { Owner, VirtualTime } from "./time/virtual-time";

export const receiverNames = ["quick", "slow", "flaky", "lying", "away"] as const;

export interface Taken {
  readonly receiver: string;
  readonly id: string;
  readonly body: string;
}

const PAGE = 100;
const READS_EVERY_MS = 1_500;
const ATTEMPT_MS = 15_000;
const failed = {
  result: "failed",
  status: null,
  failure: "connection",
  retryAfterMs: null,
  answer: "",
} as const;
const delivered = {
  result: "delivered",
  status: 200,
  failure: null,
  retryAfterMs: null,
  answer: "",
} as const;

/** Whom merchants have told: quick and slow ones, some that fail, one that takes what it says it does not, one that is away. */
export class Receivers implements WebhookSender {
  readonly taken: Taken[] = [];
  /** From then on all of them take what comes. */
  isFine = false;

  constructor(
    private readonly time: VirtualTime,
    private readonly random: SeededRandom,
  ) {}

  async send({ url, headers, body }: WebhookRequest): Promise<AttemptOutcome> {
    const receiver = new URL(url).pathname.slice(1);
    const { random, time } = this;
    const take = () => this.taken.push({ receiver, id: headers["webhook-id"] ?? "", body });
    const luck = random.next();
    const tookMs = Math.round(random.between(1, receiver === "slow" ? 2_000 : 40));
    await time.sleepOfWorld(tookMs);
    if (this.isFine || receiver === "quick" || receiver === "slow") {
      take();
      return { ...delivered, tookMs };
    }
    if (receiver === "away") return { ...failed, tookMs };
    if (receiver === "lying") {
      take();
      return luck < 0.5 ? { ...delivered, tookMs } : { ...failed, status: 500, failure: "status", tookMs };
    }
    if (luck < 0.5) {
      take();
      return { ...delivered, tookMs };
    }
    if (luck < 0.7) return { ...failed, status: 503, failure: "status", retryAfterMs: 3_000, tookMs };
    await time.sleepOfWorld(ATTEMPT_MS - tookMs);
    return { ...failed, failure: "timeout", tookMs: ATTEMPT_MS };
  }
}

/** An event as the feed shows it. */
export interface ToldEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly payment?: { readonly id: string }; readonly sequence?: number };
}

/** Reads the feed as somebody does who never looks back. */
export class FeedReader {
  readonly told: ToldEvent[] = [];
  private cursor: string | null = null;

  constructor(
    private readonly network: Network,
    private readonly owner: Owner,
  ) {}

  /** Until it is said to be enough; then to the end. */
  async follow(time: VirtualTime, isOver: () => boolean): Promise<void> {
    for (let isLast = false; ; isLast = isOver()) {
      while ((await this.read()) === PAGE);
      if (isLast) return;
      await time.sleep(READS_EVERY_MS, this.owner);
    }
  }

  private async read(): Promise<number> {
    const path = `/events?limit=${PAGE}${this.cursor === null ? "" : `&after=${this.cursor}`}`;
    const heard = await this.network.ask(this.owner, { method: "GET", path, key: null, body: null });
    if (heard?.status !== 200) return 0;
    const { data, nextCursor } = heard.body as { data: ToldEvent[]; nextCursor: string };
    this.told.push(...data);
    this.cursor = nextCursor;
    return data.length;
  }
}

/** As `openWebhooks` does it, with receivers of this world in place of addresses. */
export function openWebhooksOfWorld(
  container: Container,
  { sender, box }: { readonly sender: WebhookSender; readonly box: SecretBox },
): OpenWebhooks {
  const clock = container.get(tokens.clock);
  const context: WebhookContext = {
    store: container.get(tokens.webhookStore),
    feed: container.get(tokens.eventFeed),
    sender,
    secrets: box,
    clock,
    wallClock: clock,
    monotonicMs: () => performance.now(),
    ids: container.get(tokens.ids),
    random: () => Math.random(),
    observer: webhookTelemetry(container.get(tokens.metrics), container.get(tokens.logger)),
    limits: webhookLimits,
  };
  const dispatch = new DispatchWebhooks(context);
  const lookAtOnce = (): void => dispatch.nudge();
  const destinations = { assertAllowed: async (url: string) => url };
  const endpoints = new ManageWebhookEndpoints({
    ...context,
    destinations,
    boxToSeal: container.get(tokens.boxToSeal),
    randomBytes: (size) => new Uint8Array(size).fill(5),
    onListening: lookAtOnce,
  });
  return {
    endpoints,
    deliveries: new RedeliverWebhooks({ ...context, endpoints, onEnqueued: lookAtOnce }),
    forSandboxes: { sender, destinations, secrets: box, observer: context.observer },
    start: () => dispatch.start(),
    close: () => dispatch.stop(),
  };
}

/** Each of them is told of everything from now on. */
export async function registerReceivers(network: Network, person: Owner): Promise<void> {
  for (const name of receiverNames) {
    const body = { url: `https://receivers.test/${name}` };
    const asked = { method: "POST", path: "/webhook-endpoints", key: null, body } as const;
    const heard = await network.ask(person, asked);
    if (heard?.status !== 201) throw new Error(`no endpoint for ${name}: ${heard?.text}`);
  }
}
