import { sql } from "kysely";
import type { GatewayHint } from "../../../application/ports/gateway-events/gateway-hint";
import type {
  CatchUpBegun,
  ClaimedHint,
  HintClaim,
  HintStore,
  HintTending,
  NextTry,
} from "../../../application/ports/gateway-events/hint-store";
import type { PaymentId } from "../../../domain/identifiers";
import { toDate, toDateOrNull, toMs } from "../sql/payment-rows";
import type { SqlDatabase } from "../sql/sql-database";
import type { HintRow } from "./hint-tables";

export const claimedColumns = ["reference", "labelled", "revision", "received_at", "attempts"] as const;
export type ClaimedRow = Pick<HintRow, (typeof claimedColumns)[number]>;

/** What the SQL stores have in common: all that is one statement and no race. The rest, each does in its own way. */
export abstract class SqlHintStore implements HintStore {
  protected constructor(private readonly database: SqlDatabase) {}

  abstract receive(hints: readonly GatewayHint[], now: Date): Promise<number>;
  abstract claim(wish: HintClaim): Promise<readonly ClaimedHint[]>;
  abstract settle(owner: string, hint: ClaimedHint, next: NextTry | null): Promise<void>;

  async tend({ seenBefore, mostHints, limit }: HintTending): Promise<number> {
    const db = this.database.queries;
    const old = db
      .selectFrom("gateway_events_seen")
      .select("id")
      .where("seen_at", "<", toMs(seenBefore))
      .limit(limit);
    await this.database.rows(db.deleteFrom("gateway_events_seen").where("id", "in", old).compile(), "list");
    const { waiting } = await this.backlog();
    if (waiting <= mostHints) return 0;
    const oldest = db
      .selectFrom("gateway_hints")
      .select("reference")
      .orderBy("received_at")
      .limit(Math.min(limit, waiting - mostHints));
    const dropped = db.deleteFrom("gateway_hints").where("reference", "in", oldest).returning("reference");
    return (await this.database.rows(dropped.compile(), "list")).length;
  }

  async backlog(): Promise<{ waiting: number; oldestAt: Date | null }> {
    const counted = this.database.queries
      .selectFrom("gateway_hints")
      .select(({ fn }) => [
        fn.countAll<bigint>().as("waiting"),
        fn.min<bigint | null>("received_at").as("oldest"),
      ]);
    const [row] = await this.database.rows(counted.compile(), "list");
    return { waiting: Number(row?.waiting ?? 0n), oldestAt: toDateOrNull(row?.oldest ?? null) };
  }

  async beginCatchUp(now: Date, everyMs: number): Promise<CatchUpBegun | null> {
    const nowMs = toMs(now);
    const begun = this.database.queries
      .updateTable("gateway_catch_up")
      .set({ begun_at: nowMs })
      // Begun in the future: a clock was wrong then, or is now.
      .where((eb) => eb.or([eb("begun_at", "<=", nowMs - BigInt(everyMs)), eb("begun_at", ">", nowMs)]))
      .returning("caught_up_to");
    const [row] = await this.database.rows(begun.compile());
    return row === undefined ? null : { caughtUpTo: toDateOrNull(row.caught_up_to) };
  }

  async caughtUp(to: Date): Promise<void> {
    const toTime = toMs(to);
    const moved = this.database.queries
      .updateTable("gateway_catch_up")
      .set({ caught_up_to: toTime })
      .where((eb) => eb.or([eb("caught_up_to", "is", null), eb("caught_up_to", "<", toTime)]))
      .returning(sql<bigint>`id`.as("id"));
    await this.database.rows(moved.compile());
  }
}

export function toClaimedHint(row: ClaimedRow): ClaimedHint {
  return {
    reference: row.reference,
    labelled: row.labelled as PaymentId | null,
    revision: Number(row.revision),
    receivedAt: toDate(row.received_at),
    attempts: Number(row.attempts),
  };
}

/** One for each authorization, with what the last event of it is labelled with, if any is; in one order everywhere. */
export function byReference(
  hints: readonly GatewayHint[],
): readonly Pick<GatewayHint, "reference" | "labelled">[] {
  const labels = new Map<string, PaymentId | null>();
  for (const { reference, labelled } of hints)
    labels.set(reference, labelled ?? labels.get(reference) ?? null);
  return [...labels]
    .map(([reference, labelled]) => ({ reference, labelled }))
    .sort((a, b) => (a.reference < b.reference ? -1 : 1));
}
