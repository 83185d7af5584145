import { sql, type CompiledQuery, type RawBuilder } from "kysely";
import type { AuditEntry } from "../../../application/ports/audit/audit-trail";
import { auditColumns, auditRow, type AuditRow } from "../audit/audit-rows";
import { storable } from "./postgres-json";

/**
 * One statement, so one transaction: what a person did, and its entry, if that returned a row. Of a statement that is sent
 * again because its answer was lost, the entry is there already.
 */
export function withEntry<Row>(query: CompiledQuery<Row>, entry: AuditEntry): CompiledQuery<Row> {
  const values = auditColumns.map((column, at) => `$${query.parameters.length + at + 1}::${typeOf(column)}`);
  return {
    ...query,
    sql: `WITH act AS (${query.sql}), entry AS (
      INSERT INTO audit_entries (${auditColumns.join(", ")}) SELECT ${values.join(", ")} WHERE EXISTS (SELECT FROM act)
      ON CONFLICT (id) DO NOTHING) SELECT * FROM act`,
    parameters: [...query.parameters, ...valuesOf(entry)],
  };
}

/** The same for a statement that has parts already: one more of them, behind the part that `act` names. */
export function entryPart(entry: AuditEntry, act: string): RawBuilder<unknown> {
  const given = valuesOf(entry);
  const values = auditColumns.map((column, at) => sql`${given[at]}::${sql.raw(typeOf(column))}`);
  return sql`entry AS (
    INSERT INTO audit_entries (${sql.raw(auditColumns.join(", "))})
    SELECT ${sql.join(values)} WHERE EXISTS (SELECT FROM ${sql.ref(act)}))`;
}

function valuesOf(entry: AuditEntry): readonly (string | bigint | null)[] {
  const row = auditRow(entry);
  return auditColumns.map((column) => {
    const value = row[column];
    return typeof value === "string" ? storable(value) : value;
  });
}

function typeOf(column: keyof AuditRow): "bigint" | "text" {
  return column === "at" ? "bigint" : "text";
}
