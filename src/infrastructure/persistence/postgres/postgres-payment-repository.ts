import { CompiledQuery, sql, type RawBuilder } from "kysely";
import { outcomeUnknown, StoreUnavailableError } from "../../../application/ports/payment-repository";
import { publicEventColumns } from "../events/public-event-rows";
import {
  eventColumns,
  operationChanging,
  operationColumns,
  paymentChanging,
  paymentColumns,
} from "../sql/columns";
import type { WrittenPaymentRow } from "../sql/payment-rows";
import type { PostgresDatabase } from "./postgres-database";
import { storableRow, toJson } from "./postgres-json";
import { PreparedQuery } from "../sql/prepared-query";
import { ConstraintViolationError } from "../sql/sql-database";
import { SqlPaymentRepository, type PaymentChange } from "../sql/sql-payment-repository";
import { WriteReadiness } from "../write-readiness";

interface SaveArgs extends WrittenPaymentRow {
  readonly expected: bigint;
  /** JSON arrays of rows. */
  readonly operations: string;
  readonly events: string;
  readonly publicEvents: string;
}
type Arg = <Name extends keyof SaveArgs>(name: Name) => SaveArgs[Name];
type SaveQuery = PreparedQuery<SaveArgs, { id: string }>;

/** A row that nothing reads while it is what it was. */
const SMALL_TRIAL = CompiledQuery.raw(
  "UPDATE schema_migrations SET applied_at = applied_at WHERE version = 1",
);
/** Takes room where the rows are and gives it back undone. Not compressible: hexadecimal digits of hashes. */
const ROOM_TRIAL = CompiledQuery.raw(`DO $$ BEGIN
    INSERT INTO api_keys (id, merchant_id, operator, name, prefix, secret_hash, created_at)
      SELECT 'trial', 'trial', 0, string_agg(md5(random()::text), ''), 'trial', 'trial', 0 FROM generate_series(1, 2048);
    RAISE EXCEPTION USING ERRCODE = 'HF001';
  EXCEPTION WHEN SQLSTATE 'HF001' THEN NULL;
  END $$`);

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
  private readonly event: PreparedQuery<{ id: string }, { id: string }>;
  private readonly readiness: WriteReadiness;

  constructor(
    private readonly postgres: PostgresDatabase,
    onPublished: () => void = () => {},
  ) {
    super(postgres, onPublished);
    const db = postgres.queries;
    this.insert = new PreparedQuery((arg) => ({ compile: () => save(insertPayment(arg), arg).compile(db) }));
    this.update = new PreparedQuery((arg) => ({ compile: () => save(updatePayment(arg), arg).compile(db) }));
    this.event = new PreparedQuery((arg) => db.selectFrom("events").select("id").where("id", "=", arg("id")));
    const small = async () => void (await postgres.rows(SMALL_TRIAL));
    this.readiness = new WriteReadiness({
      small,
      long: async () => {
        await postgres.rows(ROOM_TRIAL);
        await small();
      },
    });
  }

  override async ping(): Promise<void> {
    await super.ping();
    await this.readiness.ask();
  }

  protected async write(change: PaymentChange): Promise<boolean> {
    try {
      const isWritten = await this.send(change);
      this.readiness.succeeded();
      return isWritten;
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.readiness.failed(error);
      throw error;
    }
  }

  private async send(change: PaymentChange): Promise<boolean> {
    const { payment, expectedVersion, operations, events, publicEvents } = change;
    const query = (expectedVersion === "new" ? this.insert : this.update).with({
      ...storableRow(payment),
      expected: expectedVersion === "new" ? 0n : BigInt(expectedVersion),
      operations: toJson(operations),
      events: toJson(events),
      publicEvents: toJson(publicEvents),
    });
    const deadline = this.postgres.deadlineOf("save");
    const written = await this.postgres.once(query, {
      deadline,
      onLost: async () => {
        try {
          // Safe a second time: if the first one arrived, or still does, the version lets only one of them through.
          const again = await this.postgres.once(query, { deadline });
          return again.length > 0 ? again : await this.arrived(change, deadline);
        } catch (error) {
          const first = error instanceof ConstraintViolationError ? await this.arrived(change, deadline) : [];
          if (first.length > 0) return first;
          // What is known of the second one says nothing about the first.
          throw error instanceof StoreUnavailableError ? outcomeUnknown(error) : error;
        }
      },
    });
    return written.length > 0;
  }

  /** What refuses the second attempt may be the first one. No two saves share the id of an event. */
  private async arrived({ events }: PaymentChange, deadline: number): Promise<readonly { id: string }[]> {
    const last = events.at(-1);
    return last === undefined ? [] : this.postgres.once(this.event.with({ id: last.id }), { deadline });
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
    ),
    public_events_written AS (
      INSERT INTO public_events (${names(publicEventColumns)})
      SELECT ${publicEventValues}
      FROM saved CROSS JOIN json_populate_recordset(NULL::public_events, ${arg("publicEvents")}::json) AS p
      ORDER BY p.sequence
    )
    SELECT id FROM saved`;
}

/**
 * Counted within the payment. The count is of the statement's beginning, and still right: whoever wrote meanwhile has
 * changed the version, too, and then nothing of this is written.
 */
const publicEventValues = sql.join(
  publicEventColumns.map((column) =>
    column === "sequence"
      ? sql`p.sequence + (SELECT coalesce(max(sequence), 0) FROM public_events WHERE payment_id = saved.id)`
      : sql.ref(`p.${column}`),
  ),
);

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
