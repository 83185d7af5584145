import type { AuditEntry, AuditQuery, AuditTrail } from "../../../application/ports/audit/audit-trail";
import type { Page } from "../../../application/ports/payment-repository";
import { actorName } from "../audit/audit-rows";
import { isAfter, pageOf, readCursor, type Position } from "../sql/cursor";
import { toMs } from "../sql/payment-rows";

/**
 * Entries in the memory of one process, written in the same turn as what they tell of.
 * Survives nothing: with the process go the acts, too.
 * Not for a server that others use: for trials and tests.
 */
export class InMemoryAuditTrail implements AuditTrail {
  private readonly entries: AuditEntry[] = [];

  /** Nothing is awaited, so the caller's act and this are one. */
  keep(entry: AuditEntry): void {
    this.entries.push(entry);
  }

  async add(entry: AuditEntry): Promise<void> {
    this.keep(entry);
  }

  async list({ limit, cursor, ...query }: AuditQuery): Promise<Page<AuditEntry>> {
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const found = this.entries
      .filter((entry) => matches(entry, query))
      .filter((entry) => after === undefined || isAfter(after, positionOf(entry)))
      .sort((a, b) => (isAfter(positionOf(a), positionOf(b)) ? -1 : 1));
    return pageOf(found, limit, positionOf);
  }
}

function positionOf({ at, id }: AuditEntry): Position {
  return { atMs: toMs(at), id };
}

function matches(
  entry: AuditEntry,
  { from, to, actor, kind, paymentId }: Omit<AuditQuery, "limit">,
): boolean {
  return (
    (from === undefined || entry.at >= from) &&
    (to === undefined || entry.at < to) &&
    (actor === undefined || actorName(entry.actor) === actor) &&
    (kind === undefined || entry.kind === kind) &&
    (paymentId === undefined || entry.paymentId === paymentId)
  );
}
