import {
  GatewayUnavailableError,
  type GatewayEventList,
  type GatewayEventPage,
  type GatewayEventQuery,
} from "../../../../application/ports/gateway-events/gateway-event-source";
import { followedTypes, seeEvent, timeOfEvent } from "./stripe-event";
import type { StripeClients } from "../accounts/stripe-clients";
import { meaningOf } from "../stripe-errors";

const DAY_MS = 86_400_000;
const PAGE = 100;

/**
 * Stripe's own list of what happened in an account, of the last thirty days, in no strict order. Excludes nobody; it only
 * reads.
 * Survives webhooks that were never sent, were lost, or came while nobody listened.
 * Not for what happened before that, nor for what an event says.
 */
export class StripeEventList implements GatewayEventList {
  readonly keptForMs = 30 * DAY_MS;

  constructor(private readonly clients: StripeClients) {}

  async page(query: GatewayEventQuery): Promise<GatewayEventPage> {
    const list = await this.list(query);
    const seen = list.data.map(seeEvent);
    const last = list.data.at(-1) as { readonly id?: unknown } | undefined;
    const isNonsense = seen.length > 0 && seen.every((one) => one === null);
    if (isNonsense || (list.has_more && typeof last?.id !== "string")) {
      throw new GatewayUnavailableError(`Stripe's list of events${of(query)} makes no sense`);
    }
    const times = list.data.map((event) => timeOfEvent(event)?.getTime() ?? 0);
    return {
      events: list.data.length,
      hints: seen.filter((one) => one !== null && one !== "foreign"),
      newestAt: times.length === 0 ? null : new Date(Math.max(...times)),
      next: list.has_more ? String(last?.id) : null,
    };
  }

  private async list(query: GatewayEventQuery) {
    const { since, after } = query;
    try {
      const { stripe, options } = await this.clients.call(query);
      const list = await stripe.events.list(
        {
          created: { gte: Math.floor(since.getTime() / 1_000) },
          types: [...followedTypes],
          limit: PAGE,
          ...(after === null ? {} : { starting_after: after }),
        },
        options(),
      );
      const { data, has_more } = list as { readonly data?: unknown; readonly has_more?: unknown };
      if (!Array.isArray(data) || typeof has_more !== "boolean") throw new Error("no list of events");
      return { data: data as readonly unknown[], has_more };
    } catch (error) {
      const { reason } = meaningOf(error);
      throw new GatewayUnavailableError(`Stripe does not list its events${of(query)}: ${reason}`, {
        cause: error,
      });
    }
  }
}

function of({ account }: GatewayEventQuery): string {
  return account === undefined ? "" : ` of ${account}`;
}
