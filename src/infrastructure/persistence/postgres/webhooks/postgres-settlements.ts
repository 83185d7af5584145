import { sql, type RawBuilder } from "kysely";
import type { Settlement } from "../../../../application/ports/events/webhook-delivery-queue";
import { PreparedQuery } from "../../sql/prepared-query";
import { settledColumns, settlementArgs, type SettlementArgs } from "../../webhooks/webhook-statements";
import type { PostgresDatabase } from "../postgres-database";
import { storable, toJson } from "../postgres-json";

interface OwnedArgs extends SettlementArgs {
  readonly owner: string;
}
type Arg = <Name extends keyof OwnedArgs>(name: Name) => OwnedArgs[Name];

/** What became of deliveries: successes together, since they are many; each failure by itself, with all that follows from it. */
export class PostgresSettlements {
  private readonly delivered: PreparedQuery<{ successes: string }, { id: string }>;
  private readonly failed: PreparedQuery<OwnedArgs, { told: bigint }>;
  private readonly ended: PreparedQuery<OwnedArgs, { told: bigint }>;

  constructor(
    private readonly postgres: PostgresDatabase,
    private readonly onPublished: () => void,
  ) {
    const prepared = <Args extends object, Row>(
      build: (arg: <Name extends keyof Args>(name: Name) => Args[Name]) => RawBuilder<Row>,
    ) => new PreparedQuery<Args, Row>((arg) => ({ compile: () => build(arg).compile(postgres.queries) }));
    this.delivered = prepared((arg) => delivered(arg("successes")));
    this.failed = prepared((arg) => sql`WITH ${settled(arg)}, ${judged(arg)} SELECT 0::bigint AS told`);
    this.ended = prepared(
      (arg) => sql`WITH ${settled(arg)}, ${ended(arg)} SELECT count(*) AS told FROM event`,
    );
  }

  /** Failures first: of what came together, a success shows that the endpoint is well. */
  async write(owner: string, settlements: readonly Settlement[]): Promise<void> {
    const successes: object[] = [];
    for (const settlement of settlements) {
      const args = settlementArgs(settlement);
      const { id, at, answeredWith, answer, took } = args;
      if (settlement.next === "delivered") successes.push({ id, at, answeredWith, answer, took });
      else await this.writeFailure(settlement, { ...args, owner, answer: storable(answer) });
    }
    if (successes.length > 0) await this.postgres.rows(this.delivered.with({ successes: toJson(successes) }));
  }

  private async writeFailure({ disable }: Settlement, args: OwnedArgs): Promise<void> {
    const [row] = await this.postgres.rows((disable === null ? this.failed : this.ended).with(args));
    if (row !== undefined && row.told > 0n) this.onPublished();
  }
}

/** Whoever it was lent to since. By its key, however many there are and whatever the server knows of the table. */
function delivered(successes: string): RawBuilder<{ id: string }> {
  return sql`
    WITH told AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${successes}::json) AS t (
        id text, at bigint, "answeredWith" bigint, answer text, took bigint)
    ), settled AS (
      UPDATE webhook_deliveries d SET status = 'delivered', attempts = attempts + 1, due_at = NULL, settled_at = t.at,
        attempted_at = t.at, attempt_status = t."answeredWith", attempt_failure = NULL, attempt_answer = t.answer,
        attempt_ms = t.took, claimed_by = NULL, claimed_until = 0
      FROM told t WHERE d.id = t.id AND d.id = ANY (ARRAY(SELECT id FROM told)) AND d.status = 'pending'
      RETURNING d.id, d.endpoint_id, d.line, t.at
    ), moved AS (
      UPDATE webhook_deliveries d SET due_at = s.at
      FROM (SELECT line, max(at) AS at FROM settled GROUP BY line) AS s
      WHERE d.line = s.line AND d.line = ANY (ARRAY(SELECT line FROM settled)) AND d.due_at IS NOT NULL
        AND d.attempts = 0 AND d.id <> ALL (ARRAY(SELECT id FROM settled))
    ), well AS (
      UPDATE webhook_endpoints SET failing_since = NULL, failed_at = NULL
      WHERE id = ANY (ARRAY(SELECT endpoint_id FROM settled)) AND failing_since IS NOT NULL
    )
    SELECT id FROM settled`;
}

/** The delivery, and those behind it. */
function settled(arg: Arg): RawBuilder<unknown> {
  return sql`settled AS (
      UPDATE webhook_deliveries SET ${settledColumns(arg)}
      WHERE id = ${arg("id")} AND status = 'pending' AND claimed_by = ${arg("owner")}
      RETURNING line
    ), moved AS (
      UPDATE webhook_deliveries d SET due_at = ${arg("lineDue")} FROM settled
      WHERE d.line = settled.line AND d.due_at IS NOT NULL
        AND d.attempts = 0 AND d.id <> ${arg("id")} AND (${arg("isSettled")}::bigint = 1 OR (SELECT ordered FROM webhook_endpoints WHERE id = ${arg("endpoint")}) = 1)
    )`;
}

/** Since when it has failed without a break, and when last. */
function failedAgain(arg: Arg): RawBuilder<unknown> {
  return sql`failing_since =
          CASE WHEN failed_at >= ${arg("quietBefore")}::bigint THEN failing_since ELSE ${arg("at")}::bigint END,
        failed_at = ${arg("at")}::bigint`;
}

function judged(arg: Arg): RawBuilder<unknown> {
  return sql`judged AS (
      UPDATE webhook_endpoints SET ${failedAgain(arg)}
      FROM settled WHERE id = ${arg("endpoint")}
    )`;
}

/** With the end of the endpoint, and the event that tells of it. */
function ended(arg: Arg): RawBuilder<unknown> {
  return sql`ended AS (
      UPDATE webhook_endpoints SET disabled_at = ${arg("at")}, disabled_reason = ${arg("reason")}, ${failedAgain(arg)}
      FROM settled WHERE id = ${arg("endpoint")} AND disabled_at IS NULL AND deleted_at IS NULL
        AND (${arg("ifFailingSince")}::bigint IS NULL OR failing_since = ${arg("ifFailingSince")}::bigint)
      RETURNING id
    ), event AS (
      INSERT INTO public_events (id, merchant_id, type, at, content)
      SELECT ${arg("eventId")}, ${arg("merchant")}, ${arg("eventType")}, ${arg("eventAt")}::bigint, ${arg("eventContent")}
      FROM ended RETURNING id
    )`;
}
