import type { WebhookEndpoint, WebhookEndpointId } from "../../domain/webhooks/webhook-endpoint";
import type { ClaimedDelivery } from "../ports/events/webhook-delivery-queue";
import type { WebhookContext } from "./webhook-context";

/** What was read of an endpoint is as good as new for so long. */
const FRESH_MS = 100;

interface Seen {
  readonly endpoint: WebhookEndpoint | null;
  readonly atMs: number;
}

/** Who waited behind slow ones goes where its endpoint is now, signed by its secret of now, or nowhere. */
export class EndpointsAsOfNow {
  private readonly seen = new Map<WebhookEndpointId, Seen>();

  constructor(private readonly context: Pick<WebhookContext, "store" | "monotonicMs">) {}

  isFresh(sinceMs: number): boolean {
    return this.context.monotonicMs() - sinceMs < FRESH_MS;
  }

  /** Null where its endpoint is there no more, or disabled. */
  async of(claimed: ClaimedDelivery): Promise<ClaimedDelivery | null> {
    const { store, monotonicMs } = this.context;
    const { endpointId: id } = claimed;
    const nowMs = monotonicMs();
    let seen = this.seen.get(id);
    if (seen === undefined || !this.isFresh(seen.atMs)) {
      this.forgetOld(nowMs);
      seen = { endpoint: await store.endpoints.find(id), atMs: nowMs };
      this.seen.set(id, seen);
    }
    const { endpoint } = seen;
    return endpoint === null || endpoint.disabled !== null ? null : { ...claimed, endpoint };
  }

  private forgetOld(nowMs: number): void {
    for (const [id, { atMs }] of this.seen) if (nowMs - atMs >= FRESH_MS) this.seen.delete(id);
  }
}
