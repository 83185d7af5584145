import { sql, type CompiledQuery } from "kysely";
import type {
  DeliveryStatus,
  TendingWork,
  WebhookDelivery,
  WebhookDeliveryStore,
} from "../../../application/ports/events/webhook-delivery-store";
import type { WebhookPageQuery } from "../../../application/ports/events/webhook-store";
import type { Page } from "../../../application/ports/payment-repository";
import type { WebhookDeliveryId, WebhookEndpointId } from "../../../domain/webhooks/webhook-endpoint";
import { toMs } from "../sql/payment-rows";
import type { SqlDatabase } from "../sql/sql-database";
import { idPage, readIdCursor } from "./webhook-cursor";
import { deliveryColumns, toDelivery } from "./webhook-rows";

const STATUSES: readonly DeliveryStatus[] = ["pending", "delivered", "failed"];

/** Deliveries to look at: what the SQL stores have in common. */
export abstract class SqlWebhookDeliveries implements WebhookDeliveryStore {
  protected constructor(private readonly database: SqlDatabase) {}

  async find(id: WebhookDeliveryId): Promise<WebhookDelivery | null> {
    const found = this.database.queries
      .selectFrom("webhook_deliveries")
      .select(deliveryColumns)
      .where("id", "=", id);
    const [row] = await this.database.rows(found.compile());
    return row === undefined ? null : toDelivery(row);
  }

  async list(
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

  abstract tend(work: TendingWork): Promise<void>;

  /** What was settled before, and what is left of deleted endpoints. */
  protected dropping({ settledBefore, limit }: TendingWork): readonly CompiledQuery[] {
    const { queries } = this.database;
    const most = BigInt(limit);
    return [
      sql`DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
          WHERE settled_at < ${toMs(settledBefore)} LIMIT ${most})`.compile(queries),
      sql`DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
          WHERE status IN ('pending', 'delivered', 'failed')
            AND endpoint_id IN (SELECT id FROM webhook_endpoints WHERE deleted_at IS NOT NULL) LIMIT ${most})`.compile(
        queries,
      ),
    ];
  }
}
