import type { CompiledQuery, Kysely, Selectable } from "kysely";
import type { Actor, Origin } from "../../../application/audit/act";
import type { ActKind, AuditEntry } from "../../../application/ports/audit/audit-trail";
import type { EventData } from "../../../domain/payment/events";
import type { MerchantId, PaymentId } from "../../../domain/identifiers";
import { toDate, toMs } from "../sql/payment-rows";
import type { Tables } from "../sql/tables";

export interface AuditEntryTable {
  id: string;
  at: bigint;
  kind: string;
  actor_type: string;
  /** The id of a key or the name of a user; null: anyone. */
  actor: string | null;
  origin: string;
  /** An address or the name of a host. */
  place: string | null;
  request_id: string | null;
  reason: string | null;
  subject: string;
  merchant_id: string | null;
  payment_id: string | null;
  /** JSON. */
  details: string;
}

export interface AuditTables {
  audit_entries: AuditEntryTable;
}

export type AuditRow = Selectable<AuditEntryTable>;

export const auditColumns = [
  "id",
  "at",
  "kind",
  "actor_type",
  "actor",
  "origin",
  "place",
  "request_id",
  "reason",
  "subject",
  "merchant_id",
  "payment_id",
  "details",
] as const satisfies readonly (keyof AuditRow)[];

export function auditRow({ actor, origin, ...entry }: AuditEntry): AuditRow {
  return {
    id: entry.id,
    at: toMs(entry.at),
    kind: entry.kind,
    actor_type: actor.type,
    actor: actorName(actor),
    origin: origin.over,
    place: origin.over === "http" ? origin.address : origin.host,
    request_id: origin.over === "http" ? origin.requestId : null,
    reason: entry.reason,
    subject: entry.subject,
    merchant_id: entry.merchant,
    payment_id: entry.paymentId,
    details: JSON.stringify(entry.details),
  };
}

export function toAuditEntry(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    at: toDate(row.at),
    kind: row.kind as ActKind,
    actor: toActor(row),
    origin: toOrigin(row),
    reason: row.reason,
    subject: row.subject,
    merchant: row.merchant_id as MerchantId | null,
    paymentId: row.payment_id as PaymentId | null,
    details: JSON.parse(row.details) as EventData,
  };
}

/** By which entries of one actor are found. */
export function actorName(actor: Actor): string | null {
  return actor.type === "api_key" ? actor.id : actor.type === "user" ? actor.name : null;
}

export function insertEntry(queries: Kysely<Tables>, entry: AuditEntry): CompiledQuery {
  return queries.insertInto("audit_entries").values(auditRow(entry)).compile();
}

function toActor({ actor_type: type, actor }: AuditRow): Actor {
  if (type === "api_key") return { type, id: actor ?? "" };
  return type === "user" ? { type, name: actor ?? "" } : { type: "anyone" };
}

function toOrigin({ origin: over, place, request_id: requestId }: AuditRow): Origin {
  return over === "http"
    ? { over, address: place, requestId: requestId ?? "" }
    : { over: "command", host: place ?? "" };
}
