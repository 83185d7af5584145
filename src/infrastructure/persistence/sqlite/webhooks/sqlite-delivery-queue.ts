import { sql } from "kysely";
import type {
  ClaimedDelivery,
  ClaimWish,
  Settlement,
} from "../../../../application/ports/events/webhook-delivery-queue";
import type { AuditEntry } from "../../../../application/ports/audit/audit-trail";
import type { NewDelivery } from "../../../../application/ports/events/webhook-fan-out-store";
import type { WebhookDeliveryId, WebhookEndpointId } from "../../../../domain/webhooks/webhook-endpoint";
import { toMs } from "../../sql/payment-rows";
import { PreparedQuery } from "../../sql/prepared-query";
import { LoansInMemory } from "../../webhooks/loans-in-memory";
import { SqlDeliveryQueue } from "../../webhooks/sql-delivery-queue";
import {
  endpointColumns,
  newDeliveryColumns,
  newDeliveryRow,
  toEndpoint,
  toNewDelivery,
  type EndpointRow,
  type NewDeliveryRow,
} from "../../webhooks/webhook-rows";
import { isFirstInLine, names, waitingEndpoints } from "../../webhooks/webhook-statements";
import type { SqliteDatabase } from "../sqlite-database";
import type { InsertDelivery } from "./insert-delivery";
import { SqliteSettlements } from "./sqlite-settlements";

interface PickArgs {
  readonly endpoint: string;
  readonly ordered: bigint;
  readonly now: bigint;
  readonly room: bigint;
  /** Ids in a JSON array. */
  readonly lent: string;
}
interface AgainArgs {
  readonly endpoint: string;
  readonly event: string;
  readonly now: bigint;
  readonly lent: string;
}

/** The one process of the file knows what it has lent, so lending costs no write. */
export class SqliteDeliveryQueue extends SqlDeliveryQueue {
  private readonly loans = new LoansInMemory();
  private readonly settlements: SqliteSettlements;
  private readonly dueEndpoints: PreparedQuery<{ now: bigint }, EndpointRow>;
  private readonly pick: PreparedQuery<PickArgs, NewDeliveryRow & { attempts: bigint }>;
  private readonly again: PreparedQuery<AgainArgs, never>;

  constructor(
    private readonly sqlite: SqliteDatabase,
    private readonly insertDelivery: InsertDelivery,
    onPublished: () => void,
  ) {
    super(sqlite);
    this.settlements = new SqliteSettlements(sqlite, this.loans, onPublished);
    const db = sqlite.queries;
    this.dueEndpoints = new PreparedQuery((arg) => ({
      compile: () =>
        sql<EndpointRow>`WITH RECURSIVE ${waitingEndpoints}, due AS (
            SELECT ${names(endpointColumns, "e")},
              (SELECT min(d.due_at) FROM webhook_deliveries d WHERE d.endpoint_id = e.id AND d.due_at IS NOT NULL) AS due_at
            FROM waiting CROSS JOIN webhook_endpoints e
            WHERE e.id = waiting.endpoint_id AND e.disabled_at IS NULL AND e.deleted_at IS NULL
          ) SELECT ${names(endpointColumns)} FROM due WHERE due_at <= ${arg("now")} ORDER BY due_at`.compile(
          db,
        ),
    }));
    this.pick = new PreparedQuery((arg) => ({
      compile: () =>
        sql<NewDeliveryRow & { attempts: bigint }>`
          SELECT ${names([...newDeliveryColumns, "attempts"], "d")} FROM webhook_deliveries d
          WHERE d.endpoint_id = ${arg("endpoint")} AND d.due_at <= ${arg("now")}
            AND d.id NOT IN (SELECT value FROM json_each(${arg("lent")}))
            AND (${arg("ordered")} = 0 OR ${isFirstInLine})
          ORDER BY d.due_at, d.position LIMIT ${arg("room")}`.compile(db),
    }));
    this.again = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`UPDATE webhook_deliveries
          SET status = 'pending', attempts = 0, due_at = ${arg("now")}, settled_at = NULL
          WHERE endpoint_id = ${arg("endpoint")} AND event_id = ${arg("event")}
            AND id NOT IN (SELECT value FROM json_each(${arg("lent")}))`.compile(db),
    }));
  }

  async enqueue(deliveries: readonly NewDelivery[], entry?: AuditEntry): Promise<void> {
    await this.sqlite.transaction(() => {
      let pending = 0;
      for (const delivery of deliveries) {
        const row = newDeliveryRow(delivery);
        if (this.insertDelivery.run(row)) {
          pending += 1;
          continue;
        }
        const { endpoint_id: endpoint, event_id: event, created_at: now } = row;
        const lent = this.lent(delivery.endpointId);
        pending += this.sqlite.run(this.again.with({ endpoint, event, now, lent }));
      }
      if (pending > 0) this.sqlite.keep(entry);
      return true;
    });
  }

  async claim(wish: ClaimWish): Promise<readonly ClaimedDelivery[]> {
    const { owner, leaseMs, now, limit } = wish;
    const endpoints = await this.sqlite.rows(this.dueEndpoints.with({ now: toMs(now) }));
    // From here on in one turn: nobody else lends meanwhile.
    const claimed: ClaimedDelivery[] = [];
    for (const row of endpoints) {
      const endpoint = toEndpoint(row);
      const room = BigInt(Math.min(this.loans.roomFor(endpoint.id, wish), limit - claimed.length));
      if (room <= 0n) continue;
      const lent = this.lent(endpoint.id);
      const args = { endpoint: endpoint.id, ordered: row.ordered, now: toMs(now), room, lent };
      for (const picked of this.sqlite.all(this.pick.with(args))) {
        const delivery = toNewDelivery(picked);
        this.loans.lend(owner, delivery.id, endpoint.id, leaseMs);
        claimed.push({ ...delivery, attempts: Number(picked.attempts), endpoint });
      }
    }
    return claimed;
  }

  async renew(owner: string, ids: readonly WebhookDeliveryId[], leaseMs: number): Promise<void> {
    this.loans.renew(owner, ids, leaseMs);
  }

  async giveBack(owner: string, ids: readonly WebhookDeliveryId[]): Promise<void> {
    this.loans.giveBack(owner, ids);
  }

  settle(owner: string, settlements: readonly Settlement[]): Promise<void> {
    return this.settlements.write(owner, settlements);
  }

  private lent(endpointId: WebhookEndpointId): string {
    return JSON.stringify(this.loans.of(endpointId));
  }
}
