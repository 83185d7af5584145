import { sql, type CompiledQuery } from "kysely";
import type { EventFeed, FeedPage, FeedQuery } from "../../../application/ports/events/event-feed";
import { InvalidCursorError } from "../../../application/ports/payment-repository";
import { PreparedQuery } from "../sql/prepared-query";
import type { SqlDatabase } from "../sql/sql-database";
import { publicEventColumns, toFeedEvent } from "./public-event-rows";
import type { PublicationsHeard } from "./publications-heard";

/** Of which a read looks at so many at most: what is rare does not make it read everything at once. */
const EXAMINED = 1_000;

interface Examined {
  readonly last: bigint | null;
  readonly count: bigint;
}

/** Reading in the order of positions: what the SQL stores have in common. Where positions come from, each knows itself. */
export abstract class SqlEventFeed implements EventFeed {
  /** As a range, in order: asked for the very position, PostgreSQL may go through all of the merchants' index. */
  private readonly at: PreparedQuery<{ before: bigint; position: bigint }, { id: string }>;

  /** `byMerchant`: there is an index that leads to a merchant's events; else they are looked for among all. */
  protected constructor(
    private readonly database: SqlDatabase,
    private readonly heard: PublicationsHeard,
    private readonly indexes: { readonly byMerchant: boolean },
  ) {
    this.at = new PreparedQuery((arg) =>
      database.queries
        .selectFrom("public_events")
        .where("position", ">", arg("before"))
        .where("position", "<=", arg("position"))
        .orderBy("position")
        .limit(1)
        .select("id"),
    );
  }

  abstract latest(): Promise<number>;

  async read(query: FeedQuery): Promise<FeedPage> {
    const { after, limit } = query;
    // First: what is committed after this look belongs to the next page.
    const latest = await this.latest();
    if (after > latest) throw new InvalidCursorError("this position is none of this feed's yet");
    if (after === latest) return { events: [], through: after, isFull: false };
    const isSifted = this.isSifted(query);
    const page = isSifted ? this.sifted(query, latest) : this.direct(query, latest).limit(limit);
    const events = (await this.database.rows(page.compile(), "list")).map(toFeedEvent);
    const last = events.at(-1);
    if (last !== undefined && events.length === limit)
      return { events, through: last.position, isFull: true };
    const through = isSifted ? await this.examinedThrough(query, latest) : latest;
    return { events, through, isFull: through < latest };
  }

  async eventIdAt(position: number): Promise<string | null> {
    const [row] = await this.database.rows(
      this.at.with({ before: BigInt(position) - 1n, position: BigInt(position) }),
    );
    return row?.id ?? null;
  }

  get published(): number {
    return this.heard.count;
  }

  changed(since: number, withinMs: number, signal?: AbortSignal): Promise<void> {
    return this.heard.changed(since, withinMs, signal);
  }

  /** More is looked at than is wanted. A payment has few events: with one, all of them are looked at. */
  private isSifted({ merchant, types, paymentId }: FeedQuery): boolean {
    if (paymentId !== undefined) return false;
    return types !== undefined || (merchant !== undefined && !this.indexes.byMerchant);
  }

  private async examinedThrough(query: FeedQuery, latest: number): Promise<number> {
    const [examined] = await this.database.rows(this.examined(query, latest), "list");
    const last = examined?.last ?? null;
    return last === null || Number(examined?.count) < EXAMINED ? latest : Number(last);
  }

  // Queries are compiled for each call: their shape follows what is asked for.

  private direct(query: FeedQuery, latest: number) {
    const { merchant, paymentId, types } = query;
    let rows = this.inRange(query, latest).select(["position", ...publicEventColumns]);
    if (merchant !== undefined) rows = rows.where("merchant_id", "=", merchant);
    if (types !== undefined) rows = rows.where("type", "in", types);
    // Within a payment the order is the same, and is that of its index.
    return paymentId === undefined
      ? rows.orderBy("position")
      : rows.where("payment_id", "=", paymentId).orderBy("sequence");
  }

  private sifted(query: FeedQuery, latest: number) {
    const { merchant, types, limit } = query;
    let rows = this.database.queries
      .selectFrom(
        this.looked(query, latest)
          .select(["position", ...publicEventColumns])
          .as("looked"),
      )
      .select(["position", ...publicEventColumns])
      .orderBy("position")
      .limit(limit);
    if (merchant !== undefined) rows = rows.where("merchant_id", "=", merchant);
    if (types !== undefined) rows = rows.where("type", "in", types);
    return rows;
  }

  private examined(query: FeedQuery, latest: number): CompiledQuery<Examined> {
    return this.database.queries
      .selectFrom(this.looked(query, latest).select("position").as("looked"))
      .select([sql<bigint | null>`max(position)`.as("last"), sql<bigint>`count(*)`.as("count")])
      .compile();
  }

  private looked(query: FeedQuery, latest: number) {
    const rows = this.inRange(query, latest).orderBy("position").limit(EXAMINED);
    const { merchant } = query;
    return merchant !== undefined && this.indexes.byMerchant
      ? rows.where("merchant_id", "=", merchant)
      : rows;
  }

  private inRange({ after }: FeedQuery, latest: number) {
    return this.database.queries
      .selectFrom("public_events")
      .where("position", ">", BigInt(after))
      .where("position", "<=", BigInt(latest));
  }
}
