import { parseWebhookDeliveryId, wants } from "../../domain/webhooks/webhook-endpoint";
import type { FeedEvent } from "../ports/events/event-feed";
import type { Listener } from "../ports/events/webhook-endpoint-store";
import type { NewDelivery } from "../ports/events/webhook-fan-out-store";
import { publicEventWire } from "../public-events/public-event";
import type { WebhookContext } from "./webhook-context";

/** Another instance was first, or endpoints changed: it is read again so often before somebody else is let at it. */
const ATTEMPTS = 5;

/**
 * Gives each event of the feed to the endpoints that want it. Endpoints are read once and again whenever they change, by
 * the store's count of their changes; the store refuses what was worked out from older ones.
 */
export class FanOutEvents {
  private known: { readonly generation: number; readonly listeners: readonly Listener[] } | undefined;

  constructor(
    private readonly context: Pick<WebhookContext, "store" | "feed" | "clock" | "ids" | "limits">,
  ) {}

  /** As of the last look. Where nobody listens, what is published concerns nobody. */
  get hasListeners(): boolean {
    return this.known !== undefined && this.known.listeners.length > 0;
  }

  /** One batch. Resolves with how many deliveries there are now, and whether there may be more at once. */
  async execute(): Promise<{ readonly deliveries: number; readonly isMore: boolean }> {
    const { store, feed, limits } = this.context;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const state = await store.fanOut.state();
      if (this.known?.generation !== state.generation) {
        this.known = { generation: state.generation, listeners: await store.endpoints.listeners() };
      }
      const { listeners } = this.known;
      // Where nobody listens, nobody reads: whoever comes begins at the feed's end.
      if (listeners.length === 0) return { deliveries: 0, isMore: false };
      const after = Math.max(state.position, Math.min(...listeners.map(({ startsAfter }) => startsAfter)));
      const page = await feed.read({ after, limit: limits.batch });
      if (page.through === state.position) return { deliveries: 0, isMore: false };
      const deliveries = page.events.flatMap((event) => this.deliveriesOf(event, listeners));
      if (await store.fanOut.advance(state, page.through, deliveries)) {
        return { deliveries: deliveries.length, isMore: page.isFull };
      }
    }
    return { deliveries: 0, isMore: true };
  }

  private deliveriesOf(event: FeedEvent, listeners: readonly Listener[]): readonly NewDelivery[] {
    const wanting = listeners.filter((one) => one.startsAfter < event.position && wants(one, event));
    if (wanting.length === 0) return [];
    const { clock, ids } = this.context;
    const createdAt = clock.now();
    // Once for all of them, and never again: each attempt sends these very bytes.
    const body = JSON.stringify(publicEventWire(event));
    return wanting.map(({ id }) => ({
      id: parseWebhookDeliveryId(ids.nextId()),
      endpointId: id,
      ...ofEvent(event, body),
      createdAt,
    }));
  }
}

/** What a delivery takes from its event. */
export function ofEvent(
  { id, type, at, paymentId, position }: FeedEvent,
  body: string,
): Pick<NewDelivery, "eventId" | "eventType" | "eventAt" | "line" | "position" | "body"> {
  return { eventId: id, eventType: type, eventAt: at, line: paymentId ?? id, position, body };
}
