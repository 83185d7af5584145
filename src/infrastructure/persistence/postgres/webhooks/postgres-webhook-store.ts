import { sql, type RawBuilder } from "kysely";
import type { AuditEntry } from "../../../../application/ports/audit/audit-trail";
import type { TendingWork } from "../../../../application/ports/events/webhook-delivery-store";
import type {
  FanOutState,
  NewDelivery,
  WebhookFanOutStore,
} from "../../../../application/ports/events/webhook-fan-out-store";
import type { WebhookStore } from "../../../../application/ports/events/webhook-store";
import type { WebhookEndpoint } from "../../../../domain/webhooks/webhook-endpoint";
import { toMs } from "../../sql/payment-rows";
import { PreparedQuery } from "../../sql/prepared-query";
import { fanOutState } from "../../webhooks/fan-out-state";
import { SqlWebhookDeliveries } from "../../webhooks/sql-webhook-deliveries";
import { SqlWebhookEndpoints } from "../../webhooks/sql-webhook-endpoints";
import { endpointRow, newDeliveryRow } from "../../webhooks/webhook-rows";
import { isFirstInLine, names } from "../../webhooks/webhook-statements";
import type { PostgresDatabase } from "../postgres-database";
import { entryPart } from "../postgres-audit";
import { toJson } from "../postgres-json";
import { addDeliveries } from "./add-deliveries";
import { PostgresDeliveryQueue } from "./postgres-delivery-queue";

/**
 * Webhooks in one PostgreSQL database, shared by any number of instances. Excludes other owners by loans, which end by
 * the database's clock; each call that decides is one statement, and so one transaction.
 * Survives the death of any instance: what was lent to it is there for others when its loans end.
 * Not for a replica that lags behind: what it reads decides about writes.
 */
export class PostgresWebhookStore implements WebhookStore {
  readonly endpoints: PostgresWebhookEndpoints;
  readonly fanOut: PostgresWebhookFanOut;
  readonly queue: PostgresDeliveryQueue;
  readonly deliveries: PostgresWebhookDeliveries;

  constructor(
    postgres: PostgresDatabase,
    /** What was told is in the feed. */
    onPublished: () => void,
  ) {
    this.endpoints = new PostgresWebhookEndpoints(postgres);
    this.fanOut = new PostgresWebhookFanOut(postgres);
    this.queue = new PostgresDeliveryQueue(postgres, onPublished);
    this.deliveries = new PostgresWebhookDeliveries(postgres);
  }
}

class PostgresWebhookEndpoints extends SqlWebhookEndpoints {
  constructor(private readonly postgres: PostgresDatabase) {
    super(postgres);
  }

  async create(
    endpoint: WebhookEndpoint,
    startsAfter: number,
    limit: number,
    entry?: AuditEntry,
  ): Promise<boolean> {
    const row = endpointRow(endpoint);
    const columns = Object.keys(row);
    // Behind the fan-out as it is once this has its row: none can pass meanwhile, and the next one knows of this endpoint.
    const created = sql<{ id: string }>`
      WITH fan_out AS (UPDATE webhook_fan_out SET generation = generation + 1 RETURNING position),
      created AS (INSERT INTO webhook_endpoints (${names(columns)}, starts_after)
      SELECT ${sql.join(Object.entries(row).map(([column, value]) => typed(column, value)))},
        greatest(${BigInt(startsAfter)}::bigint, fan_out.position)
      FROM fan_out
      WHERE (SELECT count(*) FROM webhook_endpoints
        WHERE merchant_id = ${endpoint.merchant} AND deleted_at IS NULL) < ${BigInt(limit)}
      RETURNING id)${entry === undefined ? sql`` : sql`, ${entryPart(entry, "created")}`}
      SELECT id FROM created`;
    return (await this.postgres.once(created.compile(this.postgres.queries))).length > 0;
  }
}

interface FanOutArgs {
  readonly from: bigint;
  readonly generation: bigint;
  readonly to: bigint;
  /** A JSON array of rows. */
  readonly deliveries: string;
}

class PostgresWebhookFanOut implements WebhookFanOutStore {
  readonly state: () => Promise<FanOutState>;
  private readonly query: PreparedQuery<FanOutArgs, { id: bigint }>;

  constructor(private readonly postgres: PostgresDatabase) {
    this.state = fanOutState(postgres);
    this.query = new PreparedQuery((arg) => ({
      compile: () =>
        sql<{ id: bigint }>`
        WITH advanced AS (
          UPDATE webhook_fan_out SET position = ${arg("to")}
          WHERE position = ${arg("from")} AND generation = ${arg("generation")} RETURNING id
        ), added AS (${addDeliveries(arg("deliveries"), sql`CROSS JOIN advanced`)} ON CONFLICT (endpoint_id, event_id) DO NOTHING)
        SELECT id FROM advanced`.compile(postgres.queries),
    }));
  }

  async advance(from: FanOutState, to: number, deliveries: readonly NewDelivery[]): Promise<boolean> {
    const query = this.query.with({
      from: BigInt(from.position),
      generation: BigInt(from.generation),
      to: BigInt(to),
      deliveries: toJson(deliveries.map(newDeliveryRow)),
    });
    return (await this.postgres.rows(query)).length > 0;
  }
}

class PostgresWebhookDeliveries extends SqlWebhookDeliveries {
  constructor(private readonly postgres: PostgresDatabase) {
    super(postgres);
  }

  async tend(work: TendingWork): Promise<void> {
    const now = toMs(work.now);
    // Fanned out while the one before it was being settled, neither of which could see the other.
    const waitsForNothing = sql`UPDATE webhook_deliveries d SET due_at = ${now} WHERE d.id IN (
      SELECT d.id FROM webhook_deliveries d
      WHERE d.status = 'pending' AND d.attempts = 0 AND d.due_at > ${now} AND ${isFirstInLine} LIMIT ${BigInt(work.limit)})`;
    for (const statement of [...this.dropping(work), waitsForNothing.compile(this.postgres.queries)])
      await this.postgres.rows(statement, "list");
  }
}

/** A statement that inserts what it selects has to be told what its values are, those that are missing, too. */
function typed(column: string, value: string | bigint | null): RawBuilder<unknown> {
  return column === "ordered" || /_(at|until|since)$/.test(column)
    ? sql`${value}::bigint`
    : sql`${value}::text`;
}
