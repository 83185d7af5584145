import { sql, type RawBuilder } from "kysely";
import type {
  ClaimedDelivery,
  ClaimWish,
  Settlement,
} from "../../../../application/ports/events/webhook-delivery-queue";
import type { AuditEntry } from "../../../../application/ports/audit/audit-trail";
import type { NewDelivery } from "../../../../application/ports/events/webhook-fan-out-store";
import type { WebhookDeliveryId } from "../../../../domain/webhooks/webhook-endpoint";
import { toMs } from "../../sql/payment-rows";
import { PreparedQuery } from "../../sql/prepared-query";
import { SqlDeliveryQueue } from "../../webhooks/sql-delivery-queue";
import { newDeliveryRow } from "../../webhooks/webhook-rows";
import { isFirstInLine, waitingEndpoints } from "../../webhooks/webhook-statements";
import type { PostgresDatabase } from "../postgres-database";
import { toJson } from "../postgres-json";
import { addDeliveries, clock } from "./add-deliveries";
import { lentColumns, toClaimed, type LentRow } from "./lent-rows";
import { PostgresSettlements } from "./postgres-settlements";

interface ClaimArgs {
  readonly owner: string;
  readonly lease: bigint;
  readonly now: bigint;
  readonly perEndpoint: bigint;
  readonly alone: bigint;
  readonly most: bigint;
}
interface LoanArgs {
  readonly owner: string;
  /** A JSON array. */
  readonly ids: string;
  readonly lease: bigint;
}

/** Lent by a row's own columns, which all instances see. */
export class PostgresDeliveryQueue extends SqlDeliveryQueue {
  private readonly settlements: PostgresSettlements;
  private readonly enqueueQuery: PreparedQuery<{ deliveries: string }, { id: string }>;
  private readonly claimQuery: PreparedQuery<ClaimArgs, LentRow>;
  private readonly renewQuery: PreparedQuery<LoanArgs, { id: string }>;
  private readonly giveBackQuery: PreparedQuery<Omit<LoanArgs, "lease">, { id: string }>;

  constructor(
    private readonly postgres: PostgresDatabase,
    onPublished: () => void,
  ) {
    super(postgres);
    this.settlements = new PostgresSettlements(postgres, onPublished);
    const prepared = <Args extends object, Row>(build: (arg: Arg<Args>) => RawBuilder<Row>) =>
      new PreparedQuery<Args, Row>((arg) => ({ compile: () => build(arg).compile(postgres.queries) }));
    this.enqueueQuery = prepared(
      (arg) => sql`
        ${addDeliveries(arg("deliveries"), sql``)}
        ON CONFLICT (endpoint_id, event_id) DO UPDATE
          SET status = 'pending', attempts = 0, due_at = excluded.created_at, settled_at = NULL, claimed_by = NULL
          WHERE webhook_deliveries.claimed_by IS NULL OR webhook_deliveries.claimed_until <= ${clock}
        RETURNING id`,
    );
    this.claimQuery = prepared(claim);
    this.renewQuery = prepared(
      (arg) => sql`
        UPDATE webhook_deliveries SET claimed_until = ${clock} + ${arg("lease")}
        WHERE ${isWith(arg)} AND status = 'pending' RETURNING id`,
    );
    this.giveBackQuery = prepared(
      (arg) => sql`
        UPDATE webhook_deliveries SET claimed_by = NULL, claimed_until = 0 WHERE ${isWith(arg)} RETURNING id`,
    );
  }

  async enqueue(deliveries: readonly NewDelivery[], entry?: AuditEntry): Promise<void> {
    if (deliveries.length === 0) return;
    const rows = toJson(deliveries.map(newDeliveryRow));
    await this.postgres.acted(this.enqueueQuery.with({ deliveries: rows }), entry);
  }

  async claim(wish: ClaimWish): Promise<readonly ClaimedDelivery[]> {
    const { owner, leaseMs, now, perEndpoint, alone, limit } = wish;
    const query = this.claimQuery.with({
      owner,
      lease: BigInt(leaseMs),
      now: toMs(now),
      perEndpoint: BigInt(perEndpoint),
      alone: BigInt(alone),
      most: BigInt(limit),
    });
    // What an update returns is in no order.
    return (await this.postgres.rows(query)).map(toClaimed).sort((a, b) => a.position - b.position);
  }

  async renew(owner: string, ids: readonly WebhookDeliveryId[], leaseMs: number): Promise<void> {
    const query = this.renewQuery.with({ owner, ids: JSON.stringify(ids), lease: BigInt(leaseMs) });
    await this.postgres.rows(query);
  }

  async giveBack(owner: string, ids: readonly WebhookDeliveryId[]): Promise<void> {
    if (ids.length === 0) return;
    await this.postgres.rows(this.giveBackQuery.with({ owner, ids: JSON.stringify(ids) }));
  }

  settle(owner: string, settlements: readonly Settlement[]): Promise<void> {
    return this.settlements.write(owner, settlements);
  }
}

type Arg<Args> = <Name extends keyof Args>(name: Name) => Args[Name];

function isWith(arg: Arg<Pick<LoanArgs, "owner" | "ids">>): RawBuilder<unknown> {
  return sql`id IN (SELECT json_array_elements_text(${arg("ids")}::json)) AND claimed_by = ${arg("owner")}`;
}

/**
 * Rows that another instance is just taking are passed
 * over: it is at them. What is lent is counted without a word about its status: with one, a server that has no statistics
 * yet counts it by the index of all that is pending. Only what is taken is locked, by its key.
 */
function claim(arg: Arg<ClaimArgs>): RawBuilder<LentRow> {
  const isFree = sql`(d.claimed_by IS NULL OR d.claimed_until <= ${clock})`;
  return sql`
    WITH RECURSIVE ${waitingEndpoints}, open AS MATERIALIZED (
      SELECT e.id, e.ordered, CASE WHEN lent.theirs = 0 THEN ${arg("alone")}::bigint - lent.mine
          ELSE ${arg("perEndpoint")}::bigint - lent.theirs - lent.mine END AS room
      FROM waiting JOIN webhook_endpoints e ON e.id = waiting.endpoint_id CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE l.claimed_by = ${arg("owner")}) AS mine,
          count(*) FILTER (WHERE l.claimed_by <> ${arg("owner")}) AS theirs
        FROM webhook_deliveries l
        WHERE l.endpoint_id = e.id AND l.claimed_by IS NOT NULL AND l.claimed_until > ${clock}
      ) AS lent
      WHERE e.disabled_at IS NULL AND e.deleted_at IS NULL
    ), picked AS (
      SELECT c.id FROM open CROSS JOIN LATERAL (
        SELECT d.id, d.due_at FROM webhook_deliveries d
        WHERE d.endpoint_id = open.id AND d.due_at <= ${arg("now")} AND ${isFree}
          AND (open.ordered = 0 OR ${isFirstInLine})
        ORDER BY d.due_at, d.position LIMIT greatest(open.room, 0)
      ) AS c WHERE open.room > 0 ORDER BY c.due_at LIMIT ${arg("most")}
    ), taken AS MATERIALIZED (
      SELECT d.id FROM webhook_deliveries d
      WHERE d.id = ANY (ARRAY(SELECT id FROM picked)) AND d.due_at IS NOT NULL AND ${isFree}
      FOR UPDATE OF d SKIP LOCKED
    )
    UPDATE webhook_deliveries d SET claimed_by = ${arg("owner")}, claimed_until = ${clock} + ${arg("lease")}
    FROM webhook_endpoints e WHERE d.id = ANY (ARRAY(SELECT id FROM taken)) AND e.id = d.endpoint_id
    RETURNING ${lentColumns}`;
}
