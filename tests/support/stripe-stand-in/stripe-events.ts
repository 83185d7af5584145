import type { StripeAnswer } from "./stripe-world";

export interface StripeEvent {
  readonly id: string;
  readonly object: "event";
  readonly api_version: string;
  readonly created: number;
  readonly livemode: false;
  readonly type: string;
  readonly data: { readonly object: object };
}

/** What happened in the account, as Stripe lists and sends it: with the object as it was then. */
export class StripeEvents {
  readonly all: StripeEvent[] = [];
  /** Told of each, as the receiver of a webhook is. */
  onEvent: (event: StripeEvent) => void = () => undefined;
  now: () => number = Date.now;
  /** A part of all ids. */
  label = "";
  /** Stripe forgets them after thirty days. */
  private forgottenBefore = 0;

  record(type: string, object: object): void {
    const event: StripeEvent = {
      id: `evt_${this.label}${this.all.length + 1}`,
      object: "event",
      api_version: "2025-09-30.clover",
      created: Math.floor(this.now() / 1_000),
      livemode: false,
      type,
      data: { object: structuredClone(object) },
    };
    this.all.push(event);
    this.onEvent(event);
  }

  forgetBefore(time: number): void {
    this.forgottenBefore = Math.floor(time / 1_000);
  }

  /** The newest first, by `created`, the types that are asked for. */
  list(query: URLSearchParams): StripeAnswer {
    const types = [...query].flatMap(([name, value]) => (/^types\[\d*\]$/.test(name) ? [value] : []));
    if (types.length > 20) {
      return {
        status: 400,
        body: { error: { type: "invalid_request_error", param: "types", message: "no" } },
      };
    }
    const since = Math.max(Number(query.get("created[gte]") ?? 0), this.forgottenBefore);
    const found = this.all
      .filter(({ created, type }) => created >= since && (types.length === 0 || types.includes(type)))
      .reverse();
    const after = found.findIndex(({ id }) => id === query.get("starting_after")) + 1;
    const data = found.slice(after, after + Number(query.get("limit") ?? 10));
    const has_more = after + data.length < found.length;
    return { status: 200, body: structuredClone({ object: "list", url: "/v1/events", data, has_more }) };
  }
}
