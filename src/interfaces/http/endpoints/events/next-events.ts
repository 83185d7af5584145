import {
  FEED_POLL_MS,
  type EventFeed,
  type FeedEvent,
  type FeedPage,
  type FeedQuery,
} from "../../../../application/ports/events/event-feed";
import { InvalidCursorError } from "../../../../application/ports/payment-repository";
import { cursorAt, cursorIn, isOfFeed, type EventCursor } from "./event-cursor";

/** Lends the feed of the world that is meant. Not for a wait: a sandbox that is lent cannot be handed over. */
export type LendFeed = <T>(work: (feed: EventFeed) => Promise<T>) => Promise<T>;

export type EventQuery = Omit<FeedQuery, "after">;

export interface NextEvents {
  readonly events: readonly FeedEvent[];
  /** Where to go on. */
  readonly next: EventCursor;
  /** There may be more at once. */
  readonly isFull: boolean;
}

/** Between two looks of one reader, where the first was in vain: on a busy server most of what comes is not for it. */
const BETWEEN_LOOKS_MS = 100;

/**
 * What is there after the cursor; where there is nothing, waits for it. Ends in time, and when the signal fires, with an
 * empty page. Rejects with `InvalidCursorError` where the cursor is another feed's.
 */
export async function nextEvents(
  lend: LendFeed,
  query: EventQuery,
  from: EventCursor,
  withinMs: number,
  signal: AbortSignal,
): Promise<NextEvents> {
  const untilMs = performance.now() + withinMs;
  let at = from;
  let known: EventFeed | undefined;
  let isFirst = true;
  for (;;) {
    const { feed, since, found } = await lend(async (lent) => {
      const since = lent.published;
      const page = await lent.read({ ...query, after: at.position });
      // A sandbox that was attached anew may have come back with less, and gone on otherwise.
      if (lent !== known && !(await isOfFeed(at, lent)))
        throw new InvalidCursorError("another event is at this position");
      const { events, isFull } = page;
      return { feed: lent, since, found: { events, next: await cursorAfter(lent, page, at), isFull } };
    });
    const leftMs = untilMs - performance.now();
    if (found.events.length > 0 || leftMs <= 0 || signal.aborted) return found;
    [at, known] = [found.next, feed];
    if (found.isFull) continue;
    await feed.changed(since, Math.min(FEED_POLL_MS, leftMs), signal);
    if (!isFirst) await pause(Math.min(BETWEEN_LOOKS_MS, leftMs), signal);
    isFirst = false;
  }
}

async function cursorAfter(
  feed: EventFeed,
  { events, through }: FeedPage,
  at: EventCursor,
): Promise<EventCursor> {
  if (through === at.position) return at;
  const last = events.at(-1);
  return last?.position === through ? cursorAt(last) : cursorIn(feed, through);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || ms <= 0) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
