import { CompiledQuery } from "kysely";
import { SqlEventFeed } from "../events/sql-event-feed";
import type { PublicationsHeard } from "../events/publications-heard";
import type { PostgresDatabase } from "./postgres-database";

/** Each gives positions to 500 events. What is left after these is for the next read. */
const MOST_BATCHES = 20;

/** The order by `drawn` is what makes it go by the index, however many rows once had no position. */
const STATE = CompiledQuery.raw(
  `SELECT coalesce((SELECT max(position) FROM public_events), 0) AS latest,
    (SELECT drawn FROM public_events WHERE position IS NULL ORDER BY drawn LIMIT 1) IS NOT NULL AS waiting`,
) as CompiledQuery<{ latest: bigint; waiting: boolean }>;
/** False where another reader was at it all the time that a lock is worth waiting for. */
const GIVE_POSITIONS = CompiledQuery.raw(
  "SELECT give_positions_to_public_events() AS given",
) as CompiledQuery<{ given: boolean }>;

/**
 * The feed of one PostgreSQL database. Saves write events without positions; whoever reads gives positions to what is
 * committed, one reader at a time, so that none is ever given below one that was shown.
 * Survives the death of any reader: positions are given in one transaction, or not at all.
 * Not for a replica: reading writes.
 */
export class PostgresEventFeed extends SqlEventFeed {
  constructor(
    private readonly postgres: PostgresDatabase,
    heard: PublicationsHeard,
  ) {
    super(postgres, heard, { byMerchant: true });
  }

  async latest(): Promise<number> {
    for (let batch = 0; ; batch += 1) {
      const [state] = await this.postgres.rows(STATE);
      if (state === undefined) throw new Error("the state of the feed is one row");
      if (!state.waiting || batch === MOST_BATCHES) return Number(state.latest);
      const [result] = await this.postgres.rows(GIVE_POSITIONS, "list");
      if (result?.given !== true) return Number(state.latest);
    }
  }
}
