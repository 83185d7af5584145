import { publicEventWire } from "../../../../application/public-events/public-event";
import { InvalidCursorError } from "../../../../application/ports/payment-repository";
import { cursorAt, writeEventCursor, type EventCursor } from "./event-cursor";
import { nextEvents, type EventQuery, type LendFeed, type NextEvents } from "./next-events";

/** A connection on which nothing comes for longer is cut by common proxies, after 30 to 60 s. */
const HEARTBEAT_MS = 15_000;
/** After which a browser comes back by itself. */
const RETRY_MS = 2_000;

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** Asked now and then: the stream of a key that was revoked ends. */
  readonly isStillKnown: () => Promise<boolean>;
  readonly heartbeatMs?: number;
}

/**
 * The feed as server-sent events, page by page: the next one is read when the one before was taken. Each event's id is a
 * cursor; a heartbeat has one, too, so that whoever comes back need not go through again what was not for them.
 */
export async function* eventStream(
  lend: LendFeed,
  query: EventQuery,
  first: NextEvents,
  { signal, isStillKnown, heartbeatMs = HEARTBEAT_MS }: StreamOptions,
): AsyncGenerator<string, void, undefined> {
  const goOn = (from: EventCursor): Promise<NextEvents | null> =>
    nextEvents(lend, query, from, heartbeatMs, signal).catch((error: unknown) => {
      if (error instanceof InvalidCursorError) return null;
      throw error;
    });
  yield `retry: ${RETRY_MS}\n${chunkOf(first)}`;
  let page = first;
  let knownAtMs = performance.now();
  while (!signal.aborted) {
    const next = await goOn(page.next);
    // Whoever comes back with this cursor is told why.
    if (next === null) return;
    page = next;
    if (performance.now() - knownAtMs >= heartbeatMs) {
      if (!(await isStillKnown())) return;
      knownAtMs = performance.now();
    }
    yield chunkOf(page);
  }
}

function chunkOf({ events, next }: NextEvents): string {
  if (events.length === 0) return `id: ${writeEventCursor(next)}\n\n`;
  return events
    .map((event) => {
      const id = writeEventCursor(cursorAt(event));
      return `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(publicEventWire(event))}\n\n`;
    })
    .join("");
}
