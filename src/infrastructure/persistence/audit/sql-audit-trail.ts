import { sql, type SqlBool } from "kysely";
import type { AuditEntry, AuditQuery, AuditTrail } from "../../../application/ports/audit/audit-trail";
import type { Page } from "../../../application/ports/payment-repository";
import { pageOf, readCursor } from "../sql/cursor";
import { toMs } from "../sql/payment-rows";
import type { SqlDatabase } from "../sql/sql-database";
import { auditColumns, insertEntry, toAuditEntry } from "./audit-rows";

/**
 * The entries beside the payments. What they tell of is written by the stores whose acts these are, each with its own.
 * Survives what the store survives.
 * Not for what nobody decided: that is in the payments' history and in the log.
 */
export class SqlAuditTrail implements AuditTrail {
  constructor(private readonly database: SqlDatabase) {}

  async add(entry: AuditEntry): Promise<void> {
    await this.database.rows(insertEntry(this.database.queries, entry));
  }

  async list({ limit, cursor, from, to, actor, kind, paymentId }: AuditQuery): Promise<Page<AuditEntry>> {
    let found = this.database.queries.selectFrom("audit_entries").select(auditColumns);
    if (from !== undefined) found = found.where("at", ">=", toMs(from));
    if (to !== undefined) found = found.where("at", "<", toMs(to));
    if (actor !== undefined) found = found.where("actor", "=", actor);
    if (kind !== undefined) found = found.where("kind", "=", kind);
    if (paymentId !== undefined) found = found.where("payment_id", "=", paymentId);
    if (cursor !== undefined) {
      const { atMs, id } = readCursor(cursor);
      found = found.where(sql<SqlBool>`(at, id) < (${atMs}, ${id})`);
    }
    const newestFirst = found
      .orderBy("at", "desc")
      .orderBy("id", "desc")
      .limit(limit + 1);
    const rows = await this.database.rows(newestFirst.compile(), "list");
    return pageOf(rows.map(toAuditEntry), limit, (entry) => ({ atMs: toMs(entry.at), id: entry.id }));
  }
}
