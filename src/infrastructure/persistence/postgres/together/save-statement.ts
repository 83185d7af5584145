import { sql, type RawBuilder } from "kysely";
import { publicEventWritten } from "../../events/public-event-rows";
import {
  eventColumns,
  operationChanging,
  operationWritten,
  paymentChanging,
  paymentColumns,
} from "../../sql/columns";

/** JSON arrays of rows, of one payment or of many. The rows of a payment bring the version that it is to have. */
export interface SaveArgs {
  /** The payments' ids, as an array's text. */
  readonly ids: string;
  readonly payments: string;
  readonly operations: string;
  readonly events: string;
  readonly publicEvents: string;
}
export type SaveArg = <Name extends keyof SaveArgs>(name: Name) => SaveArgs[Name];

/**
 * Whole saves as one statement, so as one round trip and one transaction. Operations and events are joined to their
 * payment's row, so they are written after it, and not at all if it is not. Answers with the ids of the payments that it
 * has written.
 */
export function save(
  payments: RawBuilder<unknown>,
  arg: SaveArg,
  /** The entry of one who decided so by hand. */
  entry?: RawBuilder<unknown>,
): RawBuilder<{ id: string }> {
  const written = operationChanging.map((column) => sql`${sql.ref(column)} = excluded.${sql.ref(column)}`);
  return sql`
    WITH asked AS MATERIALIZED (
      SELECT ${names(paymentColumns)} FROM json_populate_recordset(NULL::payments, ${arg("payments")}::json)
    ),
    saved AS (${payments}),
    operations_written AS (
      INSERT INTO operations (${names(operationWritten)})
      SELECT ${names(operationWritten, "o")}
      FROM saved JOIN json_populate_recordset(NULL::operations, ${arg("operations")}::json) AS o ON o.payment_id = saved.id
      ON CONFLICT (id) DO UPDATE SET ${sql.join(written)}
    ),
    events_written AS (
      INSERT INTO events (${names(eventColumns)})
      SELECT ${names(eventColumns, "e")}
      FROM saved JOIN json_populate_recordset(NULL::events, ${arg("events")}::json) AS e ON e.payment_id = saved.id
    ),
    public_events_written AS (
      INSERT INTO public_events (${names(publicEventWritten)})
      SELECT ${publicEventValues}
      FROM saved JOIN json_populate_recordset(NULL::public_events, ${arg("publicEvents")}::json) AS p
        ON p.payment_id = saved.id
      ORDER BY p.sequence
    )${entry === undefined ? sql`` : sql`, ${entry}`}
    SELECT id FROM saved`;
}

export function insertPayments(): RawBuilder<unknown> {
  return sql`INSERT INTO payments (${names(paymentColumns)}) SELECT ${names(paymentColumns)} FROM asked RETURNING id`;
}

/**
 * Each row on its own condition: one that has another version by now is left as it is, and its neighbours are written. The
 * ids are asked for twice: plans are made while the table is small and kept while it grows, and with them any plan reads no
 * other rows.
 */
export function updatePayments(arg: SaveArg): RawBuilder<unknown> {
  const changes = paymentChanging.map((column) => sql`${sql.ref(column)} = asked.${sql.ref(column)}`);
  return sql`
    UPDATE payments SET ${sql.join(changes)} FROM asked WHERE ${areAsIs(arg)} RETURNING payments.id`;
}

/** The same, but for rows that somebody else is at: whoever waits for one would keep the neighbours waiting. */
export function updateFreePayments(arg: SaveArg): RawBuilder<unknown> {
  const changes = paymentChanging.map((column) => sql`${sql.ref(column)} = free.${sql.ref(column)}`);
  return sql`
    UPDATE payments SET ${sql.join(changes)}
    FROM (SELECT asked.* FROM payments, asked WHERE ${areAsIs(arg)} FOR NO KEY UPDATE OF payments SKIP LOCKED) AS free
    WHERE payments.id = ANY (${arg("ids")}::text[]) AND payments.id = free.id RETURNING payments.id`;
}

function areAsIs(arg: SaveArg): RawBuilder<unknown> {
  return sql`payments.id = ANY (${arg("ids")}::text[]) AND payments.id = asked.id AND payments.version = asked.version - 1`;
}

/**
 * Counted within the payment. The count is of the statement's beginning, and still right: whoever wrote meanwhile has
 * changed the version, too, and then nothing of this is written.
 */
const publicEventValues = sql.join(
  publicEventWritten.map((column) =>
    column === "sequence"
      ? sql`p.sequence + (SELECT coalesce(max(sequence), 0) FROM public_events WHERE payment_id = saved.id)`
      : sql.ref(`p.${column}`),
  ),
);

function names(columns: readonly string[], table?: string): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.ref(table === undefined ? column : `${table}.${column}`)));
}
