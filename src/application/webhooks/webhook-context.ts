import type { Clock } from "../ports/clock";
import type { EventFeed } from "../ports/events/event-feed";
import type { IdGenerator } from "../ports/id-generator";
import type { SecretBox } from "../ports/events/secret-box";
import type { WebhookSender } from "../ports/events/webhook-sender";
import type { WebhookStore } from "../ports/events/webhook-store";
import type { WebhookLimits } from "./webhook-limits";
import type { WebhookObserver } from "./webhook-observer";

/** What webhooks are made of, in one world. */
export interface WebhookContext {
  readonly store: WebhookStore;
  readonly feed: EventFeed;
  readonly sender: WebhookSender;
  readonly secrets: SecretBox;
  /** The world's own: a sandbox's stands still until it is moved. */
  readonly clock: Clock;
  /** The real one: receivers compare signatures' timestamps with their own. */
  readonly wallClock: Clock;
  /** For what lasts, whatever the clocks say. */
  readonly monotonicMs: () => number;
  readonly ids: IdGenerator;
  readonly random: () => number;
  readonly observer: WebhookObserver;
  readonly limits: WebhookLimits;
}
