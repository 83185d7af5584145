import { sql, type RawBuilder } from "kysely";
import {
  eventColumns,
  operationChanging,
  operationColumns,
  paymentChanging,
  paymentColumns,
} from "./columns";
import type { WrittenPaymentRow } from "./payment-rows";
import type { PostgresDatabase } from "./postgres-database";
import { storable, toJson } from "./postgres-json";
import { PreparedQuery } from "./prepared-query";
import { ConstraintViolationError } from "./sql-database";
import { SqlPaymentRepository, type PaymentChange } from "./sql-payment-repository";

interface SaveArgs extends WrittenPaymentRow {
  readonly expected: bigint;
  /** JSON arrays of rows. */
  readonly operations: string;
  readonly events: string;
}
type Arg = <Name extends keyof SaveArgs>(name: Name) => SaveArgs[Name];
type SaveQuery = PreparedQuery<SaveArgs, { id: string }>;

/**
 * Payments in one PostgreSQL database, shared by any number of instances. Excludes nobody: order is the lock's work,
 * truth the version's and the schema's.
 * Survives the death of any instance, and lost connections: a save is one statement, and one whose answer was lost is
 * known again by the ids of its events.
 * Not for a replica that lags behind: reads decide about writes.
 */
export class PostgresPaymentRepository extends SqlPaymentRepository {
  private readonly insert: SaveQuery;
  private readonly update: SaveQuery;
  private readonly event: PreparedQuery<{ id: string }, { payment_id: string }>;

  constructor(private readonly postgres: PostgresDatabase) {
    super(postgres);
    const db = postgres.queries;
    this.insert = new PreparedQuery((arg) => ({ compile: () => save(insertPayment(arg), arg).compile(db) }));
    this.update = new PreparedQuery((arg) => ({ compile: () => save(updatePayment(arg), arg).compile(db) }));
    this.event = new PreparedQuery((arg) =>
      db.selectFrom("events").select("payment_id").where("id", "=", arg("id")),
    );
  }

  protected async write(change: PaymentChange): Promise<boolean> {
    const { payment, expectedVersion, operations, events } = change;
    const query = (expectedVersion === "new" ? this.insert : this.update).with({
      ...payment,
      reference: payment.reference === null ? null : storable(payment.reference),
      expected: expectedVersion === "new" ? 0n : BigInt(expectedVersion),
      operations: toJson(operations),
      events: toJson(events),
    });
    const written = await this.postgres.once(query, async () => {
      try {
        // Safe a second time: if the first one arrived, or still does, the version lets only one of them through.
        const again = await this.postgres.once(query);
        return again.length > 0 ? again : await this.arrived(change);
      } catch (error) {
        const first = error instanceof ConstraintViolationError ? await this.arrived(change) : [];
        if (first.length > 0) return first;
        throw error;
      }
    });
    return written.length > 0;
  }

  /** What refuses the second attempt may be the first one. No two saves share the id of an event. */
  private async arrived({ payment, events }: PaymentChange): Promise<readonly { id: string }[]> {
    const last = events.at(-1);
    if (last === undefined) return [];
    const found = await this.postgres.rows(this.event.with({ id: last.id }));
    return found.map(() => ({ id: payment.id }));
  }
}

/**
 * The whole save as one statement, so as one round trip and one transaction. Operations and events are joined to the
 * payment's row, so they are written after it, and not at all if it is not.
 */
function save(payment: RawBuilder<unknown>, arg: Arg): RawBuilder<{ id: string }> {
  const written = operationChanging.map((column) => sql`${sql.ref(column)} = excluded.${sql.ref(column)}`);
  return sql`
    WITH saved AS (${payment} RETURNING id),
    operations_written AS (
      INSERT INTO operations (${names(operationColumns)})
      SELECT ${names(operationColumns, "o")}
      FROM saved CROSS JOIN json_populate_recordset(NULL::operations, ${arg("operations")}::json) AS o
      ON CONFLICT (id) DO UPDATE SET ${sql.join(written)}
    ),
    events_written AS (
      INSERT INTO events (${names(eventColumns)})
      SELECT ${names(eventColumns, "e")}
      FROM saved CROSS JOIN json_populate_recordset(NULL::events, ${arg("events")}::json) AS e
    )
    SELECT id FROM saved`;
}

function insertPayment(arg: Arg): RawBuilder<unknown> {
  const values = paymentColumns.map((column) => sql`${arg(column)}`);
  return sql`INSERT INTO payments (${names(paymentColumns)}) VALUES (${sql.join(values)})`;
}

function updatePayment(arg: Arg): RawBuilder<unknown> {
  const changes = paymentChanging.map((column) => sql`${sql.ref(column)} = ${arg(column)}`);
  return sql`UPDATE payments SET ${sql.join(changes)} WHERE id = ${arg("id")} AND version = ${arg("expected")}`;
}

function names(columns: readonly string[], table?: string): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.ref(table === undefined ? column : `${table}.${column}`)));
}
