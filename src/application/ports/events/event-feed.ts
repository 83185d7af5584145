import type { MerchantId, PaymentId } from "../../../domain/identifiers";
import type { PublicEvent, PublicEventType } from "../../public-events/public-event";

/**
 * What payments have told, in one order. Every adapter MUST
 * - hold exactly the public events of the saves that were committed, each once;
 * - give each one position, above 0, that never changes; once one has been shown, no event ever comes at or below it,
 *   whichever transaction commits when;
 * - keep the order of each payment: of two of its events the one with the lower `sequence` has the lower position;
 * - leave the cost of ordering to readers: a save does not wait for another one;
 * - reject with `StoreUnavailableError` when it cannot tell.
 * Positions may have gaps.
 */
export interface EventFeed {
  read(query: FeedQuery): Promise<FeedPage>;
  /** That of the newest event, and 0 where there is none. Whoever wants only what comes begins here. */
  latest(): Promise<number>;
  /** Of the event at this position; null where there is none. What two feeds tell apart that are as long as each other. */
  eventIdAt(position: number): Promise<string | null>;
  /**
   * How often this process has published, for `changed`. Taken before a read, it shows whether something has come since:
   * what is published between a read and the wait for more is not slept through.
   */
  readonly published: number;
  /**
   * Resolves when this process has published since then; else after `withinMs` at the latest, because other processes
   * are not heard; at once when the signal is aborted. Never rejects.
   */
  changed(since: number, withinMs: number, signal?: AbortSignal): Promise<void>;
}

/** How long a reader is content not to hear of what other processes publish. */
export const FEED_POLL_MS = 1_000;

export interface FeedQuery {
  /** Events after this position; 0 for all. */
  readonly after: number;
  /** Default: of all merchants. */
  readonly merchant?: MerchantId;
  readonly paymentId?: PaymentId;
  /** Not empty. Default: all. */
  readonly types?: readonly PublicEventType[];
  readonly limit: number;
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /**
   * Where to go on: up to here, the page has all that was asked for. It moves on over what was not asked for, also where
   * the page is empty. Either `after`, or the position of an event.
   */
  readonly through: number;
  /** There may be more at once. */
  readonly isFull: boolean;
}

export interface FeedEvent extends PublicEvent {
  readonly position: number;
}
