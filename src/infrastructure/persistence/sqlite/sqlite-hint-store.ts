import { sql } from "kysely";
import type { GatewayHint } from "../../../application/ports/gateway-events/gateway-hint";
import type { ClaimedHint, HintClaim, NextTry } from "../../../application/ports/gateway-events/hint-store";
import {
  byReference,
  claimedColumns,
  COMMON,
  SqlHintStore,
  toClaimedHint,
} from "../gateway-events/sql-hint-store";
import { toMs } from "../sql/payment-rows";
import { PreparedQuery } from "../sql/prepared-query";
import type { SqliteDatabase } from "./sqlite-database";

interface RenewArgs {
  readonly account: string;
  readonly reference: string;
  readonly labelled: string | null;
  readonly now: bigint;
}

/**
 * Hints in one SQLite file. Excludes other owners by loans, which end by the host's clock; each call that decides is one
 * transaction, and SQLite lets one at a time write.
 * Survives the death of process and machine: what was lent is there for others when its loan ends.
 * Not for several servers at once: those share PostgreSQL.
 */
export class SqliteHintStore extends SqlHintStore {
  private readonly remember: PreparedQuery<{ account: string; id: string; now: bigint }, never>;
  private readonly renew: PreparedQuery<RenewArgs, never>;

  constructor(
    private readonly sqlite: SqliteDatabase,
    private readonly nowMs: () => number = Date.now,
  ) {
    super(sqlite);
    const db = sqlite.queries;
    this.remember = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`INSERT INTO gateway_events_seen (account, id, seen_at)
          VALUES (${arg("account")}, ${arg("id")}, ${arg("now")})
          ON CONFLICT DO NOTHING`.compile(db),
    }));
    this.renew = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`INSERT INTO gateway_hints
            (account, reference, labelled, revision, received_at, due_at, attempts, claimed_by, claimed_until)
          VALUES (${arg("account")}, ${arg("reference")}, ${arg("labelled")}, 1, ${arg("now")}, ${arg("now")}, 0, NULL, 0)
          ON CONFLICT (account, reference) DO UPDATE SET labelled = coalesce(excluded.labelled, labelled),
            revision = revision + 1, received_at = excluded.received_at, due_at = excluded.due_at, attempts = 0`.compile(
          db,
        ),
    }));
  }

  async receive(hints: readonly GatewayHint[], at: Date): Promise<number> {
    const now = toMs(at);
    let fresh: readonly GatewayHint[] = [];
    await this.sqlite.transaction(() => {
      fresh = hints.filter(
        ({ account = COMMON, eventId: id }) => this.sqlite.run(this.remember.with({ account, id, now })) > 0,
      );
      for (const hint of byReference(fresh)) this.sqlite.run(this.renew.with({ ...hint, now }));
      return fresh.length > 0;
    });
    return fresh.length;
  }

  async claim({ owner, leaseMs, now, limit }: HintClaim): Promise<readonly ClaimedHint[]> {
    const clock = BigInt(this.nowMs());
    const db = this.sqlite.queries;
    const due = db
      .selectFrom("gateway_hints")
      .select(claimedColumns)
      .where("due_at", "<=", toMs(now))
      .where("claimed_until", "<=", clock)
      .orderBy("due_at")
      .limit(limit)
      .compile();
    // Asked before the write lock is taken: most times there is nothing.
    if ((await this.sqlite.rows(due)).length === 0) return [];
    let claimed: readonly ClaimedHint[] = [];
    await this.sqlite.transaction(() => {
      claimed = this.sqlite.all(due).map(toClaimedHint);
      const loan = { claimed_by: owner, claimed_until: clock + BigInt(leaseMs) };
      for (const { account = COMMON, reference } of claimed)
        this.sqlite.run(
          db
            .updateTable("gateway_hints")
            .set(loan)
            .where((eb) => eb.and({ account, reference }))
            .compile(),
        );
      return claimed.length > 0;
    });
    return claimed;
  }

  async settle(owner: string, hint: ClaimedHint, next: NextTry | null): Promise<void> {
    const { account = COMMON, reference, revision } = hint;
    const db = this.sqlite.queries;
    const same = BigInt(revision);
    const lent = { account, reference, claimed_by: owner };
    const over = { claimed_by: null, claimed_until: 0n };
    const dropped = db
      .deleteFrom("gateway_hints")
      .where((eb) => eb.and(lent))
      .where("revision", "=", same);
    const putOff = (to: NextTry) =>
      db
        .updateTable("gateway_hints")
        .set({ ...over, due_at: toMs(to.dueAt), attempts: BigInt(to.attempts) })
        .where((eb) => eb.and(lent))
        .where("revision", "=", same);
    const givenBack = db
      .updateTable("gateway_hints")
      .set(over)
      .where((eb) => eb.and(lent));
    await this.sqlite.transaction(() => {
      const settled = next === null ? dropped.compile() : putOff(next).compile();
      return this.sqlite.run(settled) > 0 || this.sqlite.run(givenBack.compile()) > 0;
    });
  }
}
