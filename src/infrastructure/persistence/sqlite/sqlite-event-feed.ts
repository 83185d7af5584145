import { PreparedQuery } from "../sql/prepared-query";
import { SqlEventFeed } from "../events/sql-event-feed";
import type { PublicationsHeard } from "../events/publications-heard";
import type { SqliteDatabase } from "./sqlite-database";

/**
 * The feed of one SQLite file. Its rows' own numbers are the positions: SQLite lets one transaction write at a time,
 * each row gets the number after the highest there is, and no row is ever deleted, so what commits later is higher.
 * Survives the death of process and machine with everything that was acknowledged.
 * Not for several servers at once: those share PostgreSQL.
 */
export class SqliteEventFeed extends SqlEventFeed {
  private readonly highest: PreparedQuery<object, { latest: bigint | null }>;

  constructor(
    private readonly sqlite: SqliteDatabase,
    heard: PublicationsHeard,
  ) {
    super(sqlite, heard, { byMerchant: false });
    this.highest = new PreparedQuery(() =>
      sqlite.queries
        .selectFrom("public_events")
        .select(({ fn }) => fn.max<bigint | null>("position").as("latest")),
    );
  }

  async latest(): Promise<number> {
    const [row] = await this.sqlite.rows(this.highest.with({}));
    return Number(row?.latest ?? 0);
  }
}
