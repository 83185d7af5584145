import { sql } from "kysely";
import type { AuditEntry } from "../../../../application/ports/audit/audit-trail";
import type { TendingWork } from "../../../../application/ports/events/webhook-delivery-store";
import type {
  FanOutState,
  NewDelivery,
  WebhookFanOutStore,
} from "../../../../application/ports/events/webhook-fan-out-store";
import type { WebhookStore } from "../../../../application/ports/events/webhook-store";
import type { WebhookEndpoint } from "../../../../domain/webhooks/webhook-endpoint";
import { PreparedQuery } from "../../sql/prepared-query";
import { fanOutState } from "../../webhooks/fan-out-state";
import { SqlWebhookDeliveries } from "../../webhooks/sql-webhook-deliveries";
import { SqlWebhookEndpoints } from "../../webhooks/sql-webhook-endpoints";
import { endpointRow, newDeliveryRow } from "../../webhooks/webhook-rows";
import type { SqliteDatabase } from "../sqlite-database";
import { InsertDelivery } from "./insert-delivery";
import { SqliteDeliveryQueue } from "./sqlite-delivery-queue";

/**
 * Webhooks in one SQLite file. Each call that decides is one transaction, and SQLite lets one at a time write.
 * Survives the death of process and machine: what is lent is known in memory alone, so whoever opens the file next finds
 * nothing lent.
 * Not for several servers at once: those share PostgreSQL.
 */
export class SqliteWebhookStore implements WebhookStore {
  readonly endpoints: SqliteWebhookEndpoints;
  readonly fanOut: SqliteWebhookFanOut;
  readonly queue: SqliteDeliveryQueue;
  readonly deliveries: SqliteWebhookDeliveries;

  constructor(
    sqlite: SqliteDatabase,
    /** What was told is in the feed. */
    onPublished: () => void,
  ) {
    const insertDelivery = new InsertDelivery(sqlite);
    this.endpoints = new SqliteWebhookEndpoints(sqlite);
    this.fanOut = new SqliteWebhookFanOut(sqlite, insertDelivery);
    this.queue = new SqliteDeliveryQueue(sqlite, insertDelivery, onPublished);
    this.deliveries = new SqliteWebhookDeliveries(sqlite);
  }
}

class SqliteWebhookEndpoints extends SqlWebhookEndpoints {
  constructor(private readonly sqlite: SqliteDatabase) {
    super(sqlite);
  }

  async create(
    endpoint: WebhookEndpoint,
    startsAfter: number,
    limit: number,
    entry?: AuditEntry,
  ): Promise<boolean> {
    const db = this.sqlite.queries;
    const theirs = db
      .selectFrom("webhook_endpoints")
      .select(({ fn }) => fn.countAll<bigint>().as("count"))
      .where("merchant_id", "=", endpoint.merchant)
      .where("deleted_at", "is", null);
    const state = db.selectFrom("webhook_fan_out").select("position");
    return this.sqlite.transaction(() => {
      const [count] = this.sqlite.all(theirs.compile());
      if ((count?.count ?? 0n) >= BigInt(limit)) return false;
      const [fannedOut] = this.sqlite.all(state.compile());
      const position = Number(fannedOut?.position ?? 0n);
      const row = { ...endpointRow(endpoint), starts_after: BigInt(Math.max(startsAfter, position)) };
      this.sqlite.run(db.insertInto("webhook_endpoints").values(row).compile());
      this.sqlite.keep(entry);
      return true;
    });
  }
}

interface FanOutArgs {
  readonly from: bigint;
  readonly generation: bigint;
  readonly to: bigint;
}

class SqliteWebhookFanOut implements WebhookFanOutStore {
  readonly state: () => Promise<FanOutState>;
  private readonly move: PreparedQuery<FanOutArgs, never>;

  constructor(
    private readonly sqlite: SqliteDatabase,
    private readonly insertDelivery: InsertDelivery,
  ) {
    this.state = fanOutState(sqlite);
    this.move = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`UPDATE webhook_fan_out SET position = ${arg("to")}
          WHERE position = ${arg("from")} AND generation = ${arg("generation")}`.compile(sqlite.queries),
    }));
  }

  async advance(from: FanOutState, to: number, deliveries: readonly NewDelivery[]): Promise<boolean> {
    const { position, generation } = from;
    const args = { from: BigInt(position), generation: BigInt(generation), to: BigInt(to) };
    return this.sqlite.transaction(() => {
      if (this.sqlite.run(this.move.with(args)) === 0) return false;
      for (const delivery of deliveries) this.insertDelivery.run(newDeliveryRow(delivery));
      return true;
    });
  }
}

class SqliteWebhookDeliveries extends SqlWebhookDeliveries {
  constructor(private readonly sqlite: SqliteDatabase) {
    super(sqlite);
  }

  async tend(work: TendingWork): Promise<void> {
    await this.sqlite.transaction(() => {
      for (const statement of this.dropping(work)) this.sqlite.run(statement);
      return true;
    });
  }
}
