import { sql, type RawBuilder } from "kysely";
import type { Settlement } from "../../../../application/ports/events/webhook-delivery-queue";
import { PreparedQuery } from "../../sql/prepared-query";
import type { LoansInMemory } from "../../webhooks/loans-in-memory";
import {
  settledColumns,
  settlementArgs,
  type SettlementArg,
  type SettlementArgs,
} from "../../webhooks/webhook-statements";
import type { SqliteDatabase } from "../sqlite-database";

/** What became of deliveries, together in one transaction. */
export class SqliteSettlements {
  private readonly settleDelivery: PreparedQuery<SettlementArgs, never>;
  private readonly moveLine: PreparedQuery<SettlementArgs, never>;
  private readonly noteSuccess: PreparedQuery<SettlementArgs, never>;
  private readonly noteFailure: PreparedQuery<SettlementArgs, never>;
  private readonly disable: PreparedQuery<SettlementArgs, never>;
  private readonly tell: PreparedQuery<SettlementArgs, never>;

  constructor(
    private readonly sqlite: SqliteDatabase,
    private readonly loans: LoansInMemory,
    private readonly onPublished: () => void,
  ) {
    const prepared = (build: (arg: SettlementArg) => RawBuilder<never>) =>
      new PreparedQuery<SettlementArgs, never>((arg) => ({
        compile: () => build(arg).compile(sqlite.queries),
      }));
    this.settleDelivery = prepared(
      (arg) => sql`UPDATE webhook_deliveries SET ${settledColumns(arg)}
        WHERE id = ${arg("id")} AND status = 'pending'`,
    );
    this.moveLine = prepared(
      (arg) => sql`UPDATE webhook_deliveries SET due_at = ${arg("lineDue")}
        WHERE line = ${arg("line")} AND due_at IS NOT NULL AND attempts = 0 AND id <> ${arg("id")}
          AND (${arg("isSettled")} = 1 OR (SELECT ordered FROM webhook_endpoints WHERE id = ${arg("endpoint")}) = 1)`,
    );
    this.noteSuccess = prepared(
      (arg) => sql`UPDATE webhook_endpoints SET failing_since = NULL, failed_at = NULL
        WHERE id = ${arg("endpoint")} AND failing_since IS NOT NULL`,
    );
    this.noteFailure = prepared(
      (arg) => sql`UPDATE webhook_endpoints SET failed_at = ${arg("at")},
          failing_since = CASE WHEN failed_at >= ${arg("quietBefore")} THEN failing_since ELSE ${arg("at")} END
        WHERE id = ${arg("endpoint")}`,
    );
    this.disable = prepared(
      (arg) => sql`UPDATE webhook_endpoints SET disabled_at = ${arg("at")}, disabled_reason = ${arg("reason")}
        WHERE id = ${arg("endpoint")} AND disabled_at IS NULL AND deleted_at IS NULL
          AND (${arg("ifFailingSince")} IS NULL OR failing_since = ${arg("ifFailingSince")})`,
    );
    this.tell = prepared(
      (arg) => sql`INSERT INTO public_events (id, merchant_id, type, at, content)
        VALUES (${arg("eventId")}, ${arg("merchant")}, ${arg("eventType")}, ${arg("eventAt")}, ${arg("eventContent")})`,
    );
  }

  /** Of what somebody else has been lent since, only a success counts. */
  async write(owner: string, settlements: readonly Settlement[]): Promise<void> {
    const counting = settlements.filter(
      ({ next, deliveryId }) => next === "delivered" || this.loans.isWith(owner, deliveryId),
    );
    const told = { inFeed: false };
    await this.sqlite.transaction(() => {
      const isWell = new Set<string>();
      for (const settlement of counting) if (this.writeOne(settlement, isWell)) told.inFeed = true;
      return true;
    });
    for (const { deliveryId } of counting) this.loans.end(deliveryId);
    if (told.inFeed) this.onPublished();
  }

  /** True where it told of the end of its endpoint. `isWell`: of these a success is noted already. */
  private writeOne(settlement: Settlement, isWell: Set<string>): boolean {
    const { sqlite } = this;
    const args = settlementArgs(settlement);
    const { endpoint } = args;
    if (sqlite.run(this.settleDelivery.with(args)) === 0) return false;
    sqlite.run(this.moveLine.with(args));
    if (settlement.next === "delivered") {
      if (!isWell.has(endpoint)) sqlite.run(this.noteSuccess.with(args));
      isWell.add(endpoint);
      return false;
    }
    isWell.delete(endpoint);
    sqlite.run(this.noteFailure.with(args));
    if (settlement.disable === null || sqlite.run(this.disable.with(args)) === 0) return false;
    sqlite.run(this.tell.with(args));
    return true;
  }
}
