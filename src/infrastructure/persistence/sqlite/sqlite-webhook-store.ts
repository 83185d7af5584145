import { sql, type CompiledQuery } from "kysely";
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
import { SqlWebhookStore } from "../webhooks/sql-webhook-store";
import { toClaimed, type LentRow } from "../webhooks/lent-rows";
import {
  endpointRow,
  newDeliveryColumns,
  newDeliveryRow,
  type NewDeliveryRow,
} from "../webhooks/webhook-rows";
import {
  isFirstInLine,
  lentColumns,
  names,
  settledColumns,
  settlementArgs,
  waitingEndpoints,
  type SettlementArgs,
} from "../webhooks/webhook-statements";
import type { SqliteDatabase } from "./sqlite-database";

interface DueArgs {
  readonly now: bigint;
  readonly clock: bigint;
}
interface PickArgs extends DueArgs {
  readonly endpoint: string;
  readonly room: bigint;
}
interface FanOutArgs {
  readonly from: bigint;
  readonly generation: bigint;
  readonly to: bigint;
}
interface LoanArgs {
  readonly id: string;
  readonly owner: string;
  readonly until: bigint;
}

/**
 * Webhooks in one SQLite file. Excludes other owners by loans, which end by the host's clock; each call that decides is
 * one transaction, and SQLite lets one at a time write.
 * Survives the death of process and machine: what was lent is there for others when its loan ends.
 * Not for several servers at once: those share PostgreSQL.
 */
export class SqliteWebhookStore extends SqlWebhookStore {
  private readonly insertDelivery: PreparedQuery<NewDeliveryRow, never>;
  private readonly advance: PreparedQuery<FanOutArgs, never>;
  private readonly dueEndpoints: PreparedQuery<DueArgs, { id: string; room: bigint }>;
  private readonly pick: PreparedQuery<PickArgs, LentRow>;
  private readonly lend: PreparedQuery<LoanArgs, never>;
  private readonly prolong: PreparedQuery<LoanArgs, never>;
  private readonly settleDelivery: PreparedQuery<SettlementArgs, never>;
  private readonly moveLine: PreparedQuery<SettlementArgs, never>;
  private readonly noteSuccess: PreparedQuery<SettlementArgs, never>;
  private readonly noteFailure: PreparedQuery<SettlementArgs, never>;
  private readonly disable: PreparedQuery<SettlementArgs, never>;
  private readonly tell: PreparedQuery<SettlementArgs, never>;
  private readonly again: PreparedQuery<NewDeliveryRow & DueArgs, never>;

  constructor(
    private readonly sqlite: SqliteDatabase,
    /** What was told is in the feed. */
    private readonly onPublished: () => void,
    private readonly nowMs: () => number = Date.now,
  ) {
    super(sqlite);
    const db = sqlite.queries;
    this.insertDelivery = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`
          INSERT INTO webhook_deliveries (${names(newDeliveryColumns)}, status, attempts, due_at, claimed_until)
          VALUES (${sql.join(newDeliveryColumns.map((column) => sql`${arg(column)}`))}, 'pending', 0,
            coalesce((SELECT max(p.due_at) FROM webhook_deliveries p INDEXED BY webhook_deliveries_in_line
              WHERE p.line = ${arg("line")} AND p.due_at IS NOT NULL AND p.position < ${arg("position")}
                AND (SELECT ordered FROM webhook_endpoints e WHERE e.id = ${arg("endpoint_id")}) = 1), ${arg("created_at")}), 0)
          ON CONFLICT (endpoint_id, event_id) DO NOTHING`.compile(db),
    }));
    this.advance = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`UPDATE webhook_fan_out SET position = ${arg("to")}
          WHERE position = ${arg("from")} AND generation = ${arg("generation")}`.compile(db),
    }));
    this.dueEndpoints = new PreparedQuery((arg) => ({
      compile: () =>
        sql<{ id: string; room: bigint }>`WITH RECURSIVE ${waitingEndpoints}, due AS (
            SELECT e.id,
              (SELECT min(d.due_at) FROM webhook_deliveries d WHERE d.endpoint_id = e.id AND d.due_at IS NOT NULL) AS at,
              (SELECT count(*) FROM webhook_deliveries d INDEXED BY webhook_deliveries_lent
                WHERE d.endpoint_id = e.id AND d.claimed_by IS NOT NULL AND d.claimed_until > ${arg("clock")}) AS room
            FROM waiting CROSS JOIN webhook_endpoints e
            WHERE e.id = waiting.endpoint_id AND e.disabled_at IS NULL AND e.deleted_at IS NULL
          ) SELECT id, room FROM due WHERE at <= ${arg("now")} ORDER BY at`.compile(db),
    }));
    this.pick = new PreparedQuery((arg) => ({
      compile: () =>
        sql<LentRow>`SELECT ${lentColumns} FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id
          WHERE d.endpoint_id = ${arg("endpoint")} AND d.due_at <= ${arg("now")}
            AND (d.claimed_by IS NULL OR d.claimed_until <= ${arg("clock")})
            AND (e.ordered = 0 OR ${isFirstInLine})
          ORDER BY d.due_at, d.position LIMIT ${arg("room")}`.compile(db),
    }));
    this.lend = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`UPDATE webhook_deliveries SET claimed_by = ${arg("owner")}, claimed_until = ${arg("until")}
          WHERE id = ${arg("id")}`.compile(db),
    }));
    this.prolong = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`UPDATE webhook_deliveries SET claimed_until = ${arg("until")}
          WHERE id = ${arg("id")} AND claimed_by = ${arg("owner")} AND status = 'pending'`.compile(db),
    }));
    this.settleDelivery = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`UPDATE webhook_deliveries SET ${settledColumns(arg)} WHERE id = ${arg("id")} AND status = 'pending'
          AND (${arg("isDelivered")} = 1 OR claimed_by = ${arg("owner")})`.compile(db),
    }));
    this.moveLine = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`UPDATE webhook_deliveries SET due_at = ${arg("lineDue")}
          WHERE due_at IS NOT NULL AND attempts = 0 AND id <> ${arg("id")}
            AND line = (SELECT line FROM webhook_deliveries WHERE id = ${arg("id")})
            AND (${arg("isSettled")} = 1 OR (SELECT ordered FROM webhook_endpoints WHERE id = ${arg("endpoint")}) = 1)`.compile(
          db,
        ),
    }));
    this.noteSuccess = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`UPDATE webhook_endpoints SET failing_since = NULL, failed_at = NULL
          WHERE id = ${arg("endpoint")} AND failing_since IS NOT NULL`.compile(db),
    }));
    this.noteFailure = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`UPDATE webhook_endpoints SET failed_at = ${arg("at")},
            failing_since = CASE WHEN failed_at >= ${arg("quietBefore")} THEN failing_since ELSE ${arg("at")} END
          WHERE id = ${arg("endpoint")}`.compile(db),
    }));
    this.disable = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`UPDATE webhook_endpoints SET disabled_at = ${arg("at")}, disabled_reason = ${arg("reason")}
          WHERE id = ${arg("endpoint")} AND disabled_at IS NULL AND deleted_at IS NULL
            AND (${arg("ifFailingSince")} IS NULL OR failing_since = ${arg("ifFailingSince")})`.compile(db),
    }));
    this.tell = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`INSERT INTO public_events (id, merchant_id, type, at, content)
          VALUES (${arg("eventId")}, ${arg("merchant")}, ${arg("eventType")}, ${arg("eventAt")}, ${arg("eventContent")})`.compile(
          db,
        ),
    }));
    this.again = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`UPDATE webhook_deliveries
          SET status = 'pending', attempts = 0, due_at = ${arg("now")}, settled_at = NULL, claimed_by = NULL
          WHERE endpoint_id = ${arg("endpoint_id")} AND event_id = ${arg("event_id")}
            AND (claimed_by IS NULL OR claimed_until <= ${arg("clock")})`.compile(db),
    }));
  }

  async createEndpoint(endpoint: WebhookEndpoint, startsAfter: number, limit: number): Promise<boolean> {
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
      return true;
    });
  }

  async fanOut(from: FanOutState, to: number, deliveries: readonly NewDelivery[]): Promise<boolean> {
    const { position, generation } = from;
    const args = { from: BigInt(position), generation: BigInt(generation), to: BigInt(to) };
    return this.sqlite.transaction(() => {
      if (this.sqlite.run(this.advance.with(args)) === 0) return false;
      for (const delivery of deliveries) this.sqlite.run(this.insertDelivery.with(newDeliveryRow(delivery)));
      return true;
    });
  }

  async enqueue(deliveries: readonly NewDelivery[]): Promise<void> {
    const clock = BigInt(this.nowMs());
    await this.sqlite.transaction(() => {
      for (const delivery of deliveries) {
        const row = newDeliveryRow(delivery);
        if (this.sqlite.run(this.insertDelivery.with(row)) === 0)
          this.sqlite.run(this.again.with({ ...row, now: row.created_at, clock }));
      }
      return true;
    });
  }

  async claim(wish: ClaimWish): Promise<readonly ClaimedDelivery[]> {
    const { owner, leaseMs, now, perEndpoint, limit } = wish;
    const clock = BigInt(this.nowMs());
    const due = { now: toMs(now), clock };
    const claimed: LentRow[] = [];
    // Asked before the write lock is taken: most times there is nothing.
    const endpoints = await this.sqlite.rows(this.dueEndpoints.with(due));
    if (endpoints.length === 0) return [];
    await this.sqlite.transaction(() => {
      for (const { id: endpoint, room: lent } of endpoints) {
        const room = BigInt(Math.min(perEndpoint - Number(lent), limit - claimed.length));
        if (room <= 0n) continue;
        for (const row of this.sqlite.all(this.pick.with({ ...due, endpoint, room }))) {
          this.sqlite.run(this.lend.with({ id: row.id, owner, until: clock + BigInt(leaseMs) }));
          claimed.push(row);
        }
      }
      return claimed.length > 0;
    });
    return claimed.map(toClaimed);
  }

  async renew(owner: string, ids: readonly WebhookDeliveryId[], leaseMs: number): Promise<void> {
    const until = BigInt(this.nowMs() + leaseMs);
    await this.sqlite.transaction(() => {
      for (const id of ids) this.sqlite.run(this.prolong.with({ id, owner, until }));
      return true;
    });
  }

  async settle(settlement: Settlement): Promise<void> {
    const args = settlementArgs(settlement);
    const told = { inFeed: false };
    await this.sqlite.transaction(() => {
      if (this.sqlite.run(this.settleDelivery.with(args)) === 0) return false;
      this.sqlite.run(this.moveLine.with(args));
      this.sqlite.run((args.isDelivered === 1n ? this.noteSuccess : this.noteFailure).with(args));
      if (settlement.disable === null || this.sqlite.run(this.disable.with(args)) === 0) return true;
      this.sqlite.run(this.tell.with(args));
      return (told.inFeed = true);
    });
    if (told.inFeed) this.onPublished();
  }

  async tend({ settledBefore, limit }: { settledBefore: Date; limit: number }): Promise<void> {
    const most = BigInt(limit);
    const statements: readonly CompiledQuery[] = [
      sql`DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
          WHERE settled_at < ${toMs(settledBefore)} LIMIT ${most})`.compile(this.sqlite.queries),
      sql`DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries
          WHERE status IN ('pending', 'delivered', 'failed')
            AND endpoint_id IN (SELECT id FROM webhook_endpoints WHERE deleted_at IS NOT NULL) LIMIT ${most})`.compile(
        this.sqlite.queries,
      ),
    ];
    await this.sqlite.transaction(() => {
      for (const statement of statements) this.sqlite.run(statement);
      return true;
    });
  }
}
