import { sql, type RawBuilder } from "kysely";
import type {
  ClaimedDelivery,
  ClaimWish,
  FanOutState,
  NewDelivery,
  Settlement,
} from "../../../application/ports/events/webhook-store";
import type { WebhookDeliveryId, WebhookEndpoint } from "../../../domain/webhooks/webhook-endpoint";
import { toMs } from "../sql/payment-rows";
import { PreparedQuery } from "../sql/prepared-query";
import { toClaimed, type LentRow } from "../webhooks/lent-rows";
import { SqlWebhookStore } from "../webhooks/sql-webhook-store";
import { endpointRow, newDeliveryColumns, newDeliveryRow } from "../webhooks/webhook-rows";
import {
  isFirstInLine,
  lentColumns,
  names,
  settledColumns,
  settlementArgs,
  waitingEndpoints,
  type SettlementArg,
  type SettlementArgs,
} from "../webhooks/webhook-statements";
import type { PostgresDatabase } from "./postgres-database";
import { storable, toJson } from "./postgres-json";

interface FanOutArgs {
  readonly from: bigint;
  readonly generation: bigint;
  readonly to: bigint;
  /** A JSON array of rows. */
  readonly deliveries: string;
}
interface ClaimArgs {
  readonly owner: string;
  readonly lease: bigint;
  readonly now: bigint;
  readonly perEndpoint: bigint;
  readonly most: bigint;
}
interface RenewArgs {
  readonly owner: string;
  readonly ids: string;
  readonly lease: bigint;
}

/** Of the database, in milliseconds: instances need not agree about the time. */
const clock = sql`(extract(epoch FROM statement_timestamp()) * 1000)::bigint`;

/**
 * Webhooks in one PostgreSQL database, shared by any number of instances. Excludes other owners by loans, which end by
 * the database's clock; each call that decides is one statement, and so one transaction.
 * Survives the death of any instance: what was lent to it is there for others when its loans end.
 * Not for a replica that lags behind: what it reads decides about writes.
 */
export class PostgresWebhookStore extends SqlWebhookStore {
  private readonly fanOutQuery: PreparedQuery<FanOutArgs, { id: bigint }>;
  private readonly enqueueQuery: PreparedQuery<{ deliveries: string }, { id: string }>;
  private readonly claimQuery: PreparedQuery<ClaimArgs, LentRow>;
  private readonly renewQuery: PreparedQuery<RenewArgs, { id: string }>;
  private readonly settleQuery: PreparedQuery<SettlementArgs, { told: bigint }>;
  private readonly endQuery: PreparedQuery<SettlementArgs, { told: bigint }>;

  constructor(
    private readonly postgres: PostgresDatabase,
    /** What was told is in the feed. */
    private readonly onPublished: () => void,
  ) {
    super(postgres);
    const db = postgres.queries;
    const prepared = <Args extends object, Row>(
      build: (arg: <Name extends keyof Args>(name: Name) => Args[Name]) => RawBuilder<Row>,
    ) => new PreparedQuery<Args, Row>((arg) => ({ compile: () => build(arg).compile(db) }));
    this.fanOutQuery = prepared(
      (arg) => sql`
        WITH advanced AS (
          UPDATE webhook_fan_out SET position = ${arg("to")}
          WHERE position = ${arg("from")} AND generation = ${arg("generation")} RETURNING id
        ), added AS (${added(arg("deliveries"), sql`CROSS JOIN advanced`)} ON CONFLICT (endpoint_id, event_id) DO NOTHING)
        SELECT id FROM advanced`,
    );
    this.enqueueQuery = prepared(
      (arg) => sql`
        ${added(arg("deliveries"), sql``)}
        ON CONFLICT (endpoint_id, event_id) DO UPDATE
          SET status = 'pending', attempts = 0, due_at = excluded.created_at, settled_at = NULL, claimed_by = NULL
          WHERE webhook_deliveries.claimed_by IS NULL OR webhook_deliveries.claimed_until <= ${clock}
        RETURNING id`,
    );
    this.claimQuery = prepared((arg) => claim(arg));
    this.renewQuery = prepared(
      (arg) => sql`
        UPDATE webhook_deliveries SET claimed_until = ${clock} + ${arg("lease")}
        WHERE id IN (SELECT json_array_elements_text(${arg("ids")}::json))
          AND claimed_by = ${arg("owner")} AND status = 'pending'
        RETURNING id`,
    );
    this.settleQuery = prepared((arg) => sql`WITH ${settled(arg)}, ${judged(arg)} SELECT 0::bigint AS told`);
    this.endQuery = prepared(
      (arg) => sql`WITH ${settled(arg)}, ${ended(arg)} SELECT count(*) AS told FROM event`,
    );
  }

  async createEndpoint(endpoint: WebhookEndpoint, startsAfter: number, limit: number): Promise<boolean> {
    const row = endpointRow(endpoint);
    const columns = Object.keys(row);
    // Behind the fan-out as it is once this has its row: none can pass meanwhile, and the next one knows of this endpoint.
    const created = sql<{ id: string }>`
      WITH fan_out AS (UPDATE webhook_fan_out SET generation = generation + 1 RETURNING position)
      INSERT INTO webhook_endpoints (${names(columns)}, starts_after)
      SELECT ${sql.join(Object.entries(row).map(([column, value]) => typed(column, value)))},
        greatest(${BigInt(startsAfter)}::bigint, fan_out.position)
      FROM fan_out
      WHERE (SELECT count(*) FROM webhook_endpoints
        WHERE merchant_id = ${endpoint.merchant} AND deleted_at IS NULL) < ${BigInt(limit)}
      RETURNING id`;
    return (await this.postgres.once(created.compile(this.postgres.queries))).length > 0;
  }

  async fanOut(from: FanOutState, to: number, deliveries: readonly NewDelivery[]): Promise<boolean> {
    const query = this.fanOutQuery.with({
      from: BigInt(from.position),
      generation: BigInt(from.generation),
      to: BigInt(to),
      deliveries: toJson(deliveries.map(newDeliveryRow)),
    });
    return (await this.postgres.rows(query)).length > 0;
  }

  async enqueue(deliveries: readonly NewDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    await this.postgres.rows(
      this.enqueueQuery.with({ deliveries: toJson(deliveries.map(newDeliveryRow)) }),
      "list",
    );
  }

  async claim({ owner, leaseMs, now, perEndpoint, limit }: ClaimWish): Promise<readonly ClaimedDelivery[]> {
    const query = this.claimQuery.with({
      owner,
      lease: BigInt(leaseMs),
      now: toMs(now),
      perEndpoint: BigInt(perEndpoint),
      most: BigInt(limit),
    });
    return (await this.postgres.rows(query)).map(toClaimed);
  }

  async renew(owner: string, ids: readonly WebhookDeliveryId[], leaseMs: number): Promise<void> {
    await this.postgres.rows(
      this.renewQuery.with({ owner, ids: JSON.stringify(ids), lease: BigInt(leaseMs) }),
    );
  }

  async settle(settlement: Settlement): Promise<void> {
    const args = settlementArgs(settlement);
    const query = settlement.disable === null ? this.settleQuery : this.endQuery;
    const [row] = await this.postgres.rows(query.with({ ...args, answer: storable(args.answer) }));
    if (row !== undefined && row.told > 0n) this.onPublished();
  }

  async tend({
    now,
    settledBefore,
    limit,
  }: {
    now: Date;
    settledBefore: Date;
    limit: number;
  }): Promise<void> {
    const db = this.postgres.queries;
    const most = BigInt(limit);
    for (const statement of [
      sql`DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
          WHERE settled_at < ${toMs(settledBefore)} LIMIT ${most})`,
      sql`DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
          WHERE status IN ('pending', 'delivered', 'failed')
            AND endpoint_id IN (SELECT id FROM webhook_endpoints WHERE deleted_at IS NOT NULL) LIMIT ${most})`,
      // Fanned out while the one before it was being settled, neither of which could see the other.
      sql`UPDATE webhook_deliveries d SET due_at = ${toMs(now)} WHERE d.id IN (SELECT d.id FROM webhook_deliveries d
          WHERE d.status = 'pending' AND d.attempts = 0 AND d.due_at > ${toMs(now)} AND ${isFirstInLine} LIMIT ${most})`,
    ]) {
      await this.postgres.rows(statement.compile(db), "list");
    }
  }
}

type Arg<Args> = <Name extends keyof Args>(name: Name) => Args[Name];

function added(deliveries: string, joined: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`INSERT INTO webhook_deliveries (${names(newDeliveryColumns)}, status, attempts, due_at, claimed_until)
    SELECT ${names(newDeliveryColumns, "n")}, 'pending', 0,
      coalesce((SELECT max(p.due_at) FROM webhook_deliveries p
        WHERE p.line = n.line AND p.due_at IS NOT NULL AND p.position < n.position
          AND (SELECT ordered FROM webhook_endpoints e WHERE e.id = n.endpoint_id) = 1), n.created_at), 0
    FROM json_populate_recordset(NULL::webhook_deliveries, ${deliveries}::json) AS n ${joined}`;
}

/**
 * Rows that another instance is just taking are passed over: it is at them. What is lent is counted without a word about its
 * status: with one, a server that has no statistics yet counts it by the index of all that is pending.
 */
function claim(arg: Arg<ClaimArgs>): RawBuilder<LentRow> {
  return sql`
    WITH RECURSIVE ${waitingEndpoints}, open AS MATERIALIZED (
      SELECT e.id, e.ordered, ${arg("perEndpoint")}::bigint - (SELECT count(*) FROM webhook_deliveries l
        WHERE l.endpoint_id = e.id AND l.claimed_by IS NOT NULL AND l.claimed_until > ${clock}) AS room
      FROM waiting JOIN webhook_endpoints e ON e.id = waiting.endpoint_id
      WHERE e.disabled_at IS NULL AND e.deleted_at IS NULL
    ), due AS (
      SELECT c.id, c.due_at, open.room,
        row_number() OVER (PARTITION BY open.id ORDER BY c.due_at, c.position) AS place
      FROM open CROSS JOIN LATERAL (
        SELECT d.id, d.due_at, d.position FROM webhook_deliveries d
        WHERE d.endpoint_id = open.id AND d.due_at <= ${arg("now")}
          AND (d.claimed_by IS NULL OR d.claimed_until <= ${clock})
          AND (open.ordered = 0 OR ${isFirstInLine})
        ORDER BY d.due_at, d.position LIMIT ${arg("perEndpoint")} FOR UPDATE OF d SKIP LOCKED
      ) AS c WHERE open.room > 0
    ), picked AS (
      SELECT id FROM due WHERE place <= room ORDER BY due_at LIMIT ${arg("most")}
    )
    UPDATE webhook_deliveries d SET claimed_by = ${arg("owner")}, claimed_until = ${clock} + ${arg("lease")}
    FROM picked, webhook_endpoints e WHERE d.id = picked.id AND e.id = d.endpoint_id
    RETURNING ${lentColumns}`;
}

/** The delivery, and those behind it. */
function settled(arg: SettlementArg): RawBuilder<unknown> {
  return sql`settled AS (
      UPDATE webhook_deliveries SET ${settledColumns(arg)} WHERE id = ${arg("id")} AND status = 'pending'
        AND (${arg("isDelivered")}::bigint = 1 OR claimed_by = ${arg("owner")})
      RETURNING line
    ), moved AS (
      UPDATE webhook_deliveries d SET due_at = ${arg("lineDue")} FROM settled
      WHERE d.line = settled.line AND d.due_at IS NOT NULL
        AND d.attempts = 0 AND d.id <> ${arg("id")} AND (${arg("isSettled")}::bigint = 1 OR (SELECT ordered FROM webhook_endpoints WHERE id = ${arg("endpoint")}) = 1)
    )`;
}

/** Written only where it changes anything: a success of an endpoint that is well costs no row. */
function judged(arg: SettlementArg): RawBuilder<unknown> {
  return sql`judged AS (
      UPDATE webhook_endpoints SET
        failing_since = CASE WHEN ${arg("isDelivered")}::bigint = 1 THEN NULL
          WHEN failed_at >= ${arg("quietBefore")}::bigint THEN failing_since ELSE ${arg("at")}::bigint END,
        failed_at = CASE WHEN ${arg("isDelivered")}::bigint = 1 THEN NULL ELSE ${arg("at")}::bigint END
      FROM settled WHERE id = ${arg("endpoint")}
        AND (${arg("isDelivered")}::bigint = 0 OR failing_since IS NOT NULL)
    )`;
}

/** With the end of the endpoint, and the event that tells of it. */
function ended(arg: SettlementArg): RawBuilder<unknown> {
  return sql`ended AS (
      UPDATE webhook_endpoints SET disabled_at = ${arg("at")}, disabled_reason = ${arg("reason")}, failed_at = ${arg("at")}
      FROM settled WHERE id = ${arg("endpoint")} AND disabled_at IS NULL AND deleted_at IS NULL
        AND (${arg("ifFailingSince")}::bigint IS NULL OR failing_since = ${arg("ifFailingSince")}::bigint)
      RETURNING id
    ), event AS (
      INSERT INTO public_events (id, merchant_id, type, at, content)
      SELECT ${arg("eventId")}, ${arg("merchant")}, ${arg("eventType")}, ${arg("eventAt")}::bigint, ${arg("eventContent")}
      FROM ended RETURNING id
    )`;
}

/** A statement that inserts what it selects has to be told what its values are, those that are missing, too. */
function typed(column: string, value: string | bigint | null): RawBuilder<unknown> {
  return column === "ordered" || /_(at|until|since)$/.test(column)
    ? sql`${value}::bigint`
    : sql`${value}::text`;
}
