import { budgets } from "../../../application/time-budgets";
import type { ServerClient } from "./server-client";
import { isWorthRepeating } from "./server-errors";

/** As the server tells it. */
export interface WirePublicEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface WireFeed {
  readonly data: readonly WirePublicEvent[];
  readonly nextCursor: string;
}

export interface FollowOptions {
  readonly path: string;
  /** A cursor, or `latest`; undefined: from the beginning. */
  readonly after: string | undefined;
  readonly types: string | undefined;
  readonly paymentId: string | undefined;
  readonly signal: AbortSignal;
  readonly onEvent: (event: WirePublicEvent) => Promise<void>;
  /** Where one can go on, once everything before it has been handled. */
  readonly onCursor: (cursor: string) => void;
  /** Told once, until the server answers again. */
  readonly onTrouble: (error: Error) => void;
  readonly onBack: () => void;
}

const AGAIN_MS = 1_000;
/** As long as the server lets a request wait. */
const WAIT_SECONDS = budgets.httpMs / 1_000;

/**
 * Follows the feed until the signal fires, over restarts of the server: the cursor is what is gone on with. The first
 * answer has to come, or whoever mistyped an address would wait for ever.
 */
export async function followEvents(server: ServerClient, options: FollowOptions): Promise<void> {
  const { path, types, paymentId, signal, onEvent, onCursor, onTrouble, onBack } = options;
  let after = options.after;
  let isFirst = true;
  let isAway = false;
  // As a call, because it changes while others are awaited.
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    try {
      const wait = isFirst ? "0" : String(WAIT_SECONDS);
      const { body } = await server.get(path, { after, types, paymentId, wait }, signal);
      const { data, nextCursor } = body as unknown as WireFeed;
      if (isAway) onBack();
      isFirst = isAway = false;
      for (const event of data) {
        // What was not handled is told again to whoever goes on.
        if (isOver()) return;
        await onEvent(event);
      }
      after = nextCursor;
      onCursor(after);
    } catch (error) {
      if (isOver()) return;
      if (isFirst || !isWorthRepeating(error)) throw error;
      if (!isAway) onTrouble(error as Error);
      isAway = true;
      await pause(AGAIN_MS, signal);
    }
  }
}

/** Ends early when the signal fires. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
