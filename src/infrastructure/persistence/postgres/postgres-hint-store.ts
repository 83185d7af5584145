import { sql, type RawBuilder } from "kysely";
import type { GatewayHint } from "../../../application/ports/gateway-events/gateway-hint";
import type { ClaimedHint, HintClaim, NextTry } from "../../../application/ports/gateway-events/hint-store";
import {
  claimedColumns,
  COMMON,
  SqlHintStore,
  toClaimedHint,
  type ClaimedRow,
} from "../gateway-events/sql-hint-store";
import { toMs } from "../sql/payment-rows";
import { PreparedQuery } from "../sql/prepared-query";
import type { PostgresDatabase } from "./postgres-database";
import { toJson } from "./postgres-json";

interface ClaimArgs {
  readonly owner: string;
  readonly lease: bigint;
  readonly now: bigint;
  readonly most: bigint;
}
interface SettleArgs {
  readonly owner: string;
  readonly account: string;
  readonly reference: string;
  readonly revision: bigint;
}

/** Of the database, in milliseconds: instances need not agree about the time. */
const clock = sql`(extract(epoch FROM statement_timestamp()) * 1000)::bigint`;

/**
 * Hints in one PostgreSQL database, shared by any number of instances. Excludes other owners by loans, which end by the
 * database's clock; each call that decides is one statement, and so one transaction.
 * Survives the death of any instance: what was lent to it is there for others when its loans end.
 * Not for a replica that lags behind: what it reads decides about writes.
 */
export class PostgresHintStore extends SqlHintStore {
  private readonly receiveQuery: PreparedQuery<{ hints: string; now: bigint }, { id: string }>;
  private readonly claimQuery: PreparedQuery<ClaimArgs, ClaimedRow>;
  private readonly dropQuery: PreparedQuery<SettleArgs, { reference: string }>;
  private readonly putOffQuery: PreparedQuery<
    SettleArgs & { due: bigint; attempts: bigint },
    { reference: string }
  >;

  constructor(private readonly postgres: PostgresDatabase) {
    super(postgres);
    const db = postgres.queries;
    const prepared = <Args extends object, Row>(
      build: (arg: <Name extends keyof Args>(name: Name) => Args[Name]) => RawBuilder<Row>,
    ) => new PreparedQuery<Args, Row>((arg) => ({ compile: () => build(arg).compile(db) }));
    // In one order, so that two instances with the same events do not wait for each other in a circle.
    this.receiveQuery = prepared(
      (arg) => sql`
        WITH sent AS (
          SELECT DISTINCT ON (account, id) * FROM json_to_recordset(${arg("hints")}::json)
            AS h(account text, id text, reference text, labelled text, place bigint) ORDER BY account, id
        ), fresh AS (
          INSERT INTO gateway_events_seen (account, id, seen_at)
          SELECT account, id, ${arg("now")}::bigint FROM sent ORDER BY account, id
          ON CONFLICT DO NOTHING RETURNING account, id
        ), renewed AS (
          INSERT INTO gateway_hints (account, reference, labelled, revision, received_at, due_at, attempts, claimed_until)
          SELECT account, reference, (array_agg(labelled ORDER BY place DESC) FILTER (WHERE labelled IS NOT NULL))[1], 1,
            ${arg("now")}::bigint, ${arg("now")}::bigint, 0, 0
          FROM sent JOIN fresh USING (account, id) GROUP BY account, reference ORDER BY account, reference
          ON CONFLICT (account, reference) DO UPDATE SET labelled = coalesce(excluded.labelled, gateway_hints.labelled),
            revision = gateway_hints.revision + 1, received_at = excluded.received_at, due_at = excluded.due_at,
            attempts = 0
        ) SELECT id FROM fresh`,
    );
    this.claimQuery = prepared(
      (arg) => sql`
        WITH picked AS (
          SELECT account, reference FROM gateway_hints WHERE due_at <= ${arg("now")} AND claimed_until <= ${clock}
          ORDER BY due_at LIMIT ${arg("most")} FOR UPDATE SKIP LOCKED
        )
        UPDATE gateway_hints h SET claimed_by = ${arg("owner")}, claimed_until = ${clock} + ${arg("lease")}
        FROM picked WHERE h.account = picked.account AND h.reference = picked.reference
        RETURNING ${sql.join(claimedColumns.map((column) => sql.ref(`h.${column}`)))}`,
    );
    this.dropQuery = prepared(
      (arg) => sql`
        DELETE FROM gateway_hints WHERE account = ${arg("account")} AND reference = ${arg("reference")}
          AND claimed_by = ${arg("owner")} AND revision = ${arg("revision")}
        RETURNING reference`,
    );
    this.putOffQuery = prepared(
      (arg) => sql`
        UPDATE gateway_hints SET claimed_by = NULL, claimed_until = 0,
          due_at = CASE WHEN revision = ${arg("revision")} THEN ${arg("due")}::bigint ELSE due_at END,
          attempts = CASE WHEN revision = ${arg("revision")} THEN ${arg("attempts")}::bigint ELSE attempts END
        WHERE account = ${arg("account")} AND reference = ${arg("reference")} AND claimed_by = ${arg("owner")}
        RETURNING reference`,
    );
  }

  async receive(hints: readonly GatewayHint[], now: Date): Promise<number> {
    if (hints.length === 0) return 0;
    const rows = hints.map(({ account = COMMON, eventId: id, reference, labelled }, place) => ({
      account,
      id,
      reference,
      labelled,
      place,
    }));
    return (await this.postgres.rows(this.receiveQuery.with({ hints: toJson(rows), now: toMs(now) }))).length;
  }

  async claim({ owner, leaseMs, now, limit }: HintClaim): Promise<readonly ClaimedHint[]> {
    const args = { owner, lease: BigInt(leaseMs), now: toMs(now), most: BigInt(limit) };
    return (await this.postgres.rows(this.claimQuery.with(args))).map(toClaimedHint);
  }

  async settle(owner: string, hint: ClaimedHint, next: NextTry | null): Promise<void> {
    const { account = COMMON, reference, receivedAt, attempts } = hint;
    const args = { owner, account, reference, revision: BigInt(hint.revision) };
    if (next === null && (await this.postgres.rows(this.dropQuery.with(args))).length > 0) return;
    // Where an event came after the one that was worked on, only the loan ends.
    const to = next ?? { dueAt: receivedAt, attempts };
    const put = { ...args, due: toMs(to.dueAt), attempts: BigInt(to.attempts) };
    await this.postgres.rows(this.putOffQuery.with(put));
  }
}
