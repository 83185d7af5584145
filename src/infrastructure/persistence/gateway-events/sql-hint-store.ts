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

/** How a row names the common account. */
export const COMMON = "";

export const claimedColumns = [
  "account",
  "reference",
  "labelled",
  "revision",
  "received_at",
  "attempts",
] as const;
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
      .select(["account", "id"])
      .where("seen_at", "<", toMs(seenBefore))
      .limit(limit);
    const forgotten = db
      .deleteFrom("gateway_events_seen")
      .where((row) => sql<boolean>`${row.refTuple("account", "id")} in ${old}`);
    await this.database.rows(forgotten.compile(), "list");
    const { waiting } = await this.backlog();
    if (waiting <= mostHints) return 0;
    const oldest = db
      .selectFrom("gateway_hints")
      .select(["account", "reference"])
      .orderBy("received_at")
      .limit(Math.min(limit, waiting - mostHints));
    const dropped = db
      .deleteFrom("gateway_hints")
      .where((row) => sql<boolean>`${row.refTuple("account", "reference")} in ${oldest}`)
      .returning("reference");
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
      .returning("id");
    const [row] = await this.database.rows(begun.compile());
    return row === undefined ? null : { caughtUpTo: await this.caughtUpTo(COMMON) };
  }

  async caughtUpTo(account: string): Promise<Date | null> {
    const position = this.database.queries
      .selectFrom("gateway_catch_up_positions")
      .select("caught_up_to")
      .where("account", "=", account);
    const [row] = await this.database.rows(position.compile());
    return toDateOrNull(row?.caught_up_to ?? null);
  }

  async caughtUp(to: Date, account = COMMON): Promise<void> {
    const caught_up_to = toMs(to);
    const moved = this.database.queries
      .insertInto("gateway_catch_up_positions")
      .values({ account, caught_up_to })
      .onConflict((known) =>
        known
          .column("account")
          .doUpdateSet({ caught_up_to })
          .where("gateway_catch_up_positions.caught_up_to", "<", caught_up_to),
      );
    await this.database.rows(moved.compile());
  }
}

export function toClaimedHint(row: ClaimedRow): ClaimedHint {
  return {
    ...(row.account !== COMMON && { account: row.account }),
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
): readonly { readonly account: string; readonly reference: string; readonly labelled: PaymentId | null }[] {
  const known = new Map<string, { account: string; reference: string; labelled: PaymentId | null }>();
  for (const { account = COMMON, reference, labelled } of hints) {
    const place = `${account}/${reference}`;
    known.set(place, { account, reference, labelled: labelled ?? known.get(place)?.labelled ?? null });
  }
  return [...known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, hint]) => hint);
}
