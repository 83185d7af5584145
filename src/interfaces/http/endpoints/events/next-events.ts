import {
  FEED_POLL_MS,
  type EventFeed,
  type FeedPage,
  type FeedQuery,
} from "../../../../application/ports/events/event-feed";

/** Lends the feed of the world that is meant. Not for a wait: a sandbox that is lent cannot be handed over. */
export type LendFeed = <T>(work: (feed: EventFeed) => Promise<T>) => Promise<T>;

/** Between two looks of one reader, where the first was in vain: on a busy server most of what comes is not for it. */
const BETWEEN_LOOKS_MS = 100;

/** What is there; where there is nothing, waits for it. Ends in time, and when the signal fires, with an empty page. */
export async function nextEvents(
  lend: LendFeed,
  query: FeedQuery,
  withinMs: number,
  signal: AbortSignal,
): Promise<FeedPage> {
  const untilMs = performance.now() + withinMs;
  let { after } = query;
  let isFirst = true;
  for (;;) {
    const { feed, since, page } = await lend(async (lent) => ({
      feed: lent,
      since: lent.published,
      page: await lent.read({ ...query, after }),
    }));
    const leftMs = untilMs - performance.now();
    if (page.events.length > 0 || leftMs <= 0 || signal.aborted) return page;
    after = page.through;
    if (page.isFull) continue;
    await feed.changed(since, Math.min(FEED_POLL_MS, leftMs), signal);
    if (!isFirst) await pause(Math.min(BETWEEN_LOOKS_MS, leftMs), signal);
    isFirst = false;
  }
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
