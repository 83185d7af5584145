import { sql } from "kysely";
import type { AuditEntry } from "../../../application/ports/audit/audit-trail";
import type {
  ChangeOptions,
  EndpointChange,
  EndpointQuery,
  Listener,
  StoredSecret,
  WebhookEndpointStore,
} from "../../../application/ports/events/webhook-endpoint-store";
import type { Page } from "../../../application/ports/payment-repository";
import type { MerchantId } from "../../../domain/identifiers";
import type { WebhookEndpoint, WebhookEndpointId } from "../../../domain/webhooks/webhook-endpoint";
import { toMs } from "../sql/payment-rows";
import { PreparedQuery } from "../sql/prepared-query";
import type { SqlDatabase } from "../sql/sql-database";
import { idPage, readIdCursor } from "./webhook-cursor";
import { changedColumns, endpointColumns, toEndpoint, type EndpointRow } from "./webhook-rows";

/** What the SQL stores have in common: all that is one statement and no race. How one is made, each knows itself. */
export abstract class SqlWebhookEndpoints implements WebhookEndpointStore {
  private readonly byId: PreparedQuery<{ id: string }, EndpointRow>;

  protected constructor(private readonly database: SqlDatabase) {
    this.byId = new PreparedQuery((arg) => this.there().where("id", "=", arg("id")));
  }

  abstract create(
    endpoint: WebhookEndpoint,
    startsAfter: number,
    limit: number,
    entry?: AuditEntry,
  ): Promise<boolean>;

  async find(id: WebhookEndpointId): Promise<WebhookEndpoint | null> {
    const [row] = await this.database.rows(this.byId.with({ id }));
    return row === undefined ? null : toEndpoint(row);
  }

  async list(
    merchant: MerchantId | null,
    { limit, cursor, disabled }: EndpointQuery,
  ): Promise<Page<WebhookEndpoint>> {
    const after = cursor === undefined ? "" : readIdCursor(cursor);
    let found = this.there().where("id", ">", after).orderBy("id");
    if (merchant !== null) found = found.where("merchant_id", "=", merchant);
    if (disabled === true) found = found.where("disabled_at", "is not", null);
    const rows = await this.database.rows(found.limit(limit + 1).compile(), "list");
    return idPage(rows.map(toEndpoint), limit);
  }

  async change(
    id: WebhookEndpointId,
    change: EndpointChange,
    { ifSecret, entry }: ChangeOptions = {},
  ): Promise<WebhookEndpoint | null> {
    let changed = this.database.queries
      .updateTable("webhook_endpoints")
      .set(changedColumns(change))
      .where("id", "=", id)
      .where("deleted_at", "is", null);
    if (ifSecret !== undefined) changed = changed.where("secret", "=", ifSecret);
    const [row] = await this.database.acted(changed.returning(endpointColumns).compile(), entry);
    return row === undefined ? null : toEndpoint(row);
  }

  async delete(id: WebhookEndpointId, at: Date, entry?: AuditEntry): Promise<boolean> {
    const deleted = this.database.queries
      .updateTable("webhook_endpoints")
      .set({ deleted_at: toMs(at), secret: "", previous_secret: null, previous_until: null })
      .where("id", "=", id)
      .where("deleted_at", "is", null)
      .returning("id");
    return (await this.database.acted(deleted.compile(), entry)).length > 0;
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

  private there() {
    return this.database.queries
      .selectFrom("webhook_endpoints")
      .select(endpointColumns)
      .where("deleted_at", "is", null);
  }
}
