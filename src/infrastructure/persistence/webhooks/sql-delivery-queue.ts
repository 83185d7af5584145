import type {
  ClaimedDelivery,
  ClaimWish,
  Settlement,
  WebhookDeliveryQueue,
} from "../../../application/ports/events/webhook-delivery-queue";
import type { NewDelivery } from "../../../application/ports/events/webhook-fan-out-store";
import type { WebhookDeliveryId } from "../../../domain/webhooks/webhook-endpoint";
import { toDate, toDateOrNull, toMs } from "../sql/payment-rows";
import type { SqlDatabase } from "../sql/sql-database";

/** What the SQL stores have in common is how far the queue has come. How it is lent and settled, each knows itself. */
export abstract class SqlDeliveryQueue implements WebhookDeliveryQueue {
  protected constructor(private readonly database: SqlDatabase) {}

  abstract enqueue(deliveries: readonly NewDelivery[]): Promise<void>;
  abstract claim(wish: ClaimWish): Promise<readonly ClaimedDelivery[]>;
  abstract renew(owner: string, ids: readonly WebhookDeliveryId[], leaseMs: number): Promise<void>;
  abstract giveBack(owner: string, ids: readonly WebhookDeliveryId[]): Promise<void>;
  abstract settle(owner: string, settlements: readonly Settlement[]): Promise<void>;

  async nextDueAt(): Promise<Date | null> {
    const [row] = await this.database.rows(this.open().compile(), "list");
    return toDateOrNull(row?.oldest ?? null);
  }

  async backlog(now: Date): Promise<{ pending: number; oldestDueAt: Date | null }> {
    const counted = this.open().select(({ fn }) => fn.countAll<bigint>().as("pending"));
    const [row] = await this.database.rows(counted.compile(), "list");
    const oldest = row?.oldest ?? null;
    return {
      pending: Number(row?.pending ?? 0n),
      oldestDueAt: oldest === null || oldest > toMs(now) ? null : toDate(oldest),
    };
  }

  private open() {
    return this.database.queries
      .selectFrom("webhook_deliveries as d")
      .innerJoin("webhook_endpoints as e", "e.id", "d.endpoint_id")
      .select(({ fn }) => fn.min<bigint | null>("d.due_at").as("oldest"))
      .where("d.due_at", "is not", null)
      .where("e.disabled_at", "is", null)
      .where("e.deleted_at", "is", null);
  }
}
