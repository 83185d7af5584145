import { checkOptions, refusedOption } from "./checked-call";
import type { EventFeed } from "./generated/schemas";
import type { CallOptions } from "./holdfast-client";
import type { Wire } from "./wire";

export interface FollowOptions extends CallOptions {
  /** `nextCursor` of the last page that was worked through; without one, from the beginning. */
  readonly after?: string;
  /** Comma-separated, as `GET /events` takes them. */
  readonly types?: string;
  /** How long the server waits for news before it answers with an empty page. */
  readonly waitSeconds?: number;
}

const WAIT_SECONDS = 20;

/** The feed of events of one server. */
export class ClientEvents {
  /** @internal */
  constructor(private readonly wire: Wire) {}

  /**
   * Page after page, for ever, until the signal says so. Store `nextCursor` in the transaction that works through a page:
   * whoever goes on from there has had each event at least once, in order.
   */
  async *follow(following: FollowOptions = {}): AsyncGenerator<EventFeed, void> {
    checkOptions(following, ["after", "types", "waitSeconds"]);
    const { after, types, waitSeconds = WAIT_SECONDS, ...given } = following;
    if (!Number.isFinite(waitSeconds) || waitSeconds < 0)
      throw refusedOption("waitSeconds has to be a number of seconds");
    // An answer without news comes only after the wait.
    const withinMs = Math.max(given.withinMs ?? this.wire.withinMs, waitSeconds * 2_000);
    const options = { ...given, withinMs };
    for (let cursor = after; options.signal?.aborted !== true;) {
      const page: EventFeed = await this.wire.call(
        "listEvents",
        {
          query: {
            wait: waitSeconds,
            ...(cursor !== undefined && { after: cursor }),
            ...(types !== undefined && { types }),
          },
        },
        options,
      );
      cursor = page.nextCursor;
      if (page.data.length > 0) yield page;
    }
  }
}
