import type { DisabledReason, WebhookEndpointId } from "../../domain/webhooks/webhook-endpoint";
import type { AttemptFailure } from "../ports/events/webhook-sender";

/** What happens to webhooks, for logs and metrics. No secret, and nothing of a body. */
export interface WebhookObserver {
  attempted(attempt: {
    readonly endpointId: WebhookEndpointId;
    readonly eventId: string;
    readonly outcome: "delivered" | "retried" | "failed";
    readonly failure: AttemptFailure | null;
    readonly status: number | null;
    /** From the event to this attempt's end; null where the clock is no real one's. */
    readonly lagMs: number;
    readonly tookMs: number;
  }): void;
  disabled(endpointId: WebhookEndpointId, reason: DisabledReason): void;
  /** Something else than a receiver failed; it is tried again. */
  failed(error: unknown): void;
}
