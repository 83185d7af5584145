import { sql, type Selectable } from "kysely";
import type {
  ClaimedDelivery,
  ClaimWish,
  DeliveryStatus,
  EndpointChange,
  FanOutState,
  Listener,
  NewDelivery,
  Settlement,
  StoredSecret,
  WebhookDelivery,
  WebhookPageQuery,
  WebhookStore,
} from "../../../application/ports/events/webhook-store";
import type { Page } from "../../../application/ports/payment-repository";
import type { MerchantId } from "../../../domain/identifiers";
import type {
  WebhookDeliveryId,
  WebhookEndpoint,
  WebhookEndpointId,
} from "../../../domain/webhooks/webhook-endpoint";
import { toDate, toDateOrNull, toMs } from "../sql/payment-rows";
import { PreparedQuery } from "../sql/prepared-query";
import type { SqlDatabase } from "../sql/sql-database";
import { idPage, readIdCursor } from "./webhook-cursor";
import { changedColumns, deliveryColumns, endpointColumns, toDelivery, toEndpoint } from "./webhook-rows";
import type { WebhookFanOutTable } from "./webhook-tables";

const STATUSES: readonly DeliveryStatus[] = ["pending", "delivered", "failed"];

/** What the SQL stores have in common: all that is one statement and no race. The rest, each does in its own way. */
export abstract class SqlWebhookStore implements WebhookStore {
  private readonly stateQuery: PreparedQuery<object, Selectable<WebhookFanOutTable>>;

  protected constructor(private readonly database: SqlDatabase) {
    const db = database.queries;
    this.stateQuery = new PreparedQuery(() =>
      db.selectFrom("webhook_fan_out").select(["position", "generation"]),
    );
  }

  abstract createEndpoint(endpoint: WebhookEndpoint, startsAfter: number, limit: number): Promise<boolean>;
  abstract fanOut(from: FanOutState, to: number, deliveries: readonly NewDelivery[]): Promise<boolean>;
  abstract enqueue(deliveries: readonly NewDelivery[]): Promise<void>;
  abstract claim(wish: ClaimWish): Promise<readonly ClaimedDelivery[]>;
  abstract renew(owner: string, ids: readonly WebhookDeliveryId[], leaseMs: number): Promise<void>;
  abstract settle(settlement: Settlement): Promise<void>;
  abstract tend(work: { now: Date; settledBefore: Date; limit: number }): Promise<void>;

  async findEndpoint(id: WebhookEndpointId): Promise<WebhookEndpoint | null> {
    const found = this.there().where("id", "=", id);
    const [row] = await this.database.rows(found.compile());
    return row === undefined ? null : toEndpoint(row);
  }

  async listEndpoints(
    merchant: MerchantId,
    { limit, cursor }: WebhookPageQuery,
  ): Promise<Page<WebhookEndpoint>> {
    const after = cursor === undefined ? "" : readIdCursor(cursor);
    const found = this.there().where("merchant_id", "=", merchant).where("id", ">", after).orderBy("id");
    const rows = await this.database.rows(found.limit(limit + 1).compile(), "list");
    return idPage(rows.map(toEndpoint), limit);
  }

  async changeEndpoint(
    id: WebhookEndpointId,
    change: EndpointChange,
    ifSecret?: string,
  ): Promise<WebhookEndpoint | null> {
    let changed = this.database.queries
      .updateTable("webhook_endpoints")
      .set(changedColumns(change))
      .where("id", "=", id)
      .where("deleted_at", "is", null);
    if (ifSecret !== undefined) changed = changed.where("secret", "=", ifSecret);
    const [row] = await this.database.rows(changed.returning(endpointColumns).compile());
    return row === undefined ? null : toEndpoint(row);
  }

  async deleteEndpoint(id: WebhookEndpointId, at: Date): Promise<boolean> {
    const deleted = this.database.queries
      .updateTable("webhook_endpoints")
      .set({ deleted_at: toMs(at), secret: "", previous_secret: null, previous_until: null })
      .where("id", "=", id)
      .where("deleted_at", "is", null)
      .returning("id");
    return (await this.database.rows(deleted.compile())).length > 0;
  }

  async countDisabled(): Promise<number> {
    const count = this.database.queries
      .selectFrom("webhook_endpoints")
      .select(({ fn }) => fn.countAll<bigint>().as("count"))
      .where("disabled_at", "is not", null)
      .where("deleted_at", "is", null);
    const [row] = await this.database.rows(count.compile());
    return Number(row?.count ?? 0n);
  }

  async secretsByBeginning(now: Date, characters: number): Promise<readonly StoredSecret[]> {
    const oneOfEach = async (column: "secret" | "previous_secret") => {
      const needed = this.database.queries
        .selectFrom("webhook_endpoints")
        .where("deleted_at", "is", null)
        .$if(column === "previous_secret", (found) => found.where("previous_until", ">", toMs(now)));
      const first = needed
        .select(({ fn }) => fn.min<string>("id").as("id"))
        .groupBy(sql`substr(${sql.ref(column)}, 1, ${sql.lit(characters)})`);
      const found = needed.select(["id", `${column} as sealed`]).where("id", "in", first);
      return this.database.rows(found.compile(), "list");
    };
    const rows = [...(await oneOfEach("secret")), ...(await oneOfEach("previous_secret"))];
    return rows.flatMap(({ id, sealed }) =>
      sealed === null ? [] : [{ endpointId: id as WebhookEndpointId, sealed }],
    );
  }

  async fanOutState(): Promise<FanOutState> {
    const [row] = await this.database.rows(this.stateQuery.with({}));
    if (row === undefined) throw new Error("the state of the fan-out is one row");
    return { position: Number(row.position), generation: Number(row.generation) };
  }

  async listeners(): Promise<readonly Listener[]> {
    const found = this.database.queries
      .selectFrom("webhook_endpoints")
      .select(["id", "merchant_id", "types", "starts_after"])
      .where("disabled_at", "is", null)
      .where("deleted_at", "is", null);
    return (await this.database.rows(found.compile(), "list")).map((row) => ({
      id: row.id as WebhookEndpointId,
      merchant: row.merchant_id as MerchantId,
      types: row.types === null ? null : (JSON.parse(row.types) as string[]),
      startsAfter: Number(row.starts_after),
    }));
  }

  async giveBack(owner: string, ids: readonly WebhookDeliveryId[]): Promise<void> {
    if (ids.length === 0) return;
    const given = this.database.queries
      .updateTable("webhook_deliveries")
      .set({ claimed_by: null, claimed_until: 0n })
      .where("id", "in", ids)
      .where("claimed_by", "=", owner);
    await this.database.rows(given.compile());
  }

  async nextDueAt(): Promise<Date | null> {
    const found = this.database.queries
      .selectFrom("webhook_deliveries as d")
      .innerJoin("webhook_endpoints as e", "e.id", "d.endpoint_id")
      .select(({ fn }) => fn.min<bigint | null>("d.due_at").as("due_at"))
      .where("d.due_at", "is not", null)
      .where("e.disabled_at", "is", null)
      .where("e.deleted_at", "is", null);
    const [row] = await this.database.rows(found.compile(), "list");
    return toDateOrNull(row?.due_at ?? null);
  }

  async findDelivery(id: WebhookDeliveryId): Promise<WebhookDelivery | null> {
    const found = this.database.queries
      .selectFrom("webhook_deliveries")
      .select(deliveryColumns)
      .where("id", "=", id);
    const [row] = await this.database.rows(found.compile());
    return row === undefined ? null : toDelivery(row);
  }

  async listDeliveries(
    endpointId: WebhookEndpointId,
    { status, limit, cursor }: WebhookPageQuery & { readonly status?: DeliveryStatus },
  ): Promise<Page<WebhookDelivery>> {
    const before = cursor === undefined ? "g" : readIdCursor(cursor);
    // Each status is one stretch of the index; the newest of all three are among the newest of each.
    const pages = await Promise.all(
      (status === undefined ? STATUSES : [status]).map((one) =>
        this.database.rows(
          this.database.queries
            .selectFrom("webhook_deliveries")
            .select(deliveryColumns)
            .where("endpoint_id", "=", endpointId)
            .where("status", "=", one)
            .where("id", "<", before)
            .orderBy("id", "desc")
            .limit(limit + 1)
            .compile(),
          "list",
        ),
      ),
    );
    const found = pages.flat().sort((a, b) => (a.id < b.id ? 1 : -1));
    return idPage(found.slice(0, limit + 1).map(toDelivery), limit);
  }

  async backlog(now: Date): Promise<{ pending: number; oldestDueAt: Date | null }> {
    const nowMs = toMs(now);
    const counted = this.database.queries
      .selectFrom("webhook_deliveries as d")
      .innerJoin("webhook_endpoints as e", "e.id", "d.endpoint_id")
      .select(({ fn }) => [
        fn.countAll<bigint>().as("pending"),
        fn.min<bigint | null>("d.due_at").as("oldest"),
      ])
      .where("d.due_at", "is not", null)
      .where("e.disabled_at", "is", null)
      .where("e.deleted_at", "is", null);
    const [row] = await this.database.rows(counted.compile(), "list");
    const oldest = row?.oldest ?? null;
    return {
      pending: Number(row?.pending ?? 0n),
      oldestDueAt: oldest === null || oldest > nowMs ? null : toDate(oldest),
    };
  }

  private there() {
    return this.database.queries
      .selectFrom("webhook_endpoints")
      .select(endpointColumns)
      .where("deleted_at", "is", null);
  }
}
