import { sql } from "kysely";
import { publicEventWritten, type Traced, type WrittenPublicEventRow } from "../events/public-event-rows";
import {
  eventColumns,
  operationChanging,
  operationWritten,
  paymentChanging,
  paymentColumns,
} from "../sql/columns";
import type { WrittenPaymentRow } from "../sql/payment-rows";
import { PreparedQuery } from "../sql/prepared-query";
import { SqlPaymentRepository, type PaymentChange } from "../sql/sql-payment-repository";
import type { SqliteDatabase } from "./sqlite-database";
import type { EventRow, OperationRow } from "../sql/tables";

/**
 * Payments in one SQLite file. Excludes nobody: order is the lock's work, truth the version's and the schema's.
 * Survives the death of process and machine with everything it acknowledged.
 * Not for several servers at once: those share PostgreSQL.
 */
export class SqlitePaymentRepository extends SqlPaymentRepository {
  private readonly insertPayment: PreparedQuery<WrittenPaymentRow, never>;
  private readonly updatePayment: PreparedQuery<WrittenPaymentRow & { readonly expected: bigint }, never>;
  private readonly writeOperation: PreparedQuery<OperationRow & Traced, never>;
  private readonly insertEvent: PreparedQuery<EventRow, never>;
  private readonly insertPublicEvent: PreparedQuery<WrittenPublicEventRow, never>;

  constructor(
    private readonly sqlite: SqliteDatabase,
    onPublished: () => void = () => {},
  ) {
    super(sqlite, onPublished);
    const db = sqlite.queries;
    this.insertPayment = new PreparedQuery((arg) =>
      db.insertInto("payments").values(valuesOf<WrittenPaymentRow>(paymentColumns, arg)).$castTo<never>(),
    );
    this.updatePayment = new PreparedQuery((arg) =>
      db
        .updateTable("payments")
        .set(valuesOf<Pick<WrittenPaymentRow, (typeof paymentChanging)[number]>>(paymentChanging, arg))
        .where("id", "=", arg("id"))
        .where("version", "=", arg("expected"))
        .$castTo<never>(),
    );
    this.writeOperation = new PreparedQuery((arg) =>
      db
        .insertInto("operations")
        .values(valuesOf<OperationRow & Traced>(operationWritten, arg))
        .onConflict((conflict) =>
          conflict
            .column("id")
            .doUpdateSet((row) =>
              Object.fromEntries(operationChanging.map((column) => [column, row.ref(`excluded.${column}`)])),
            ),
        )
        .$castTo<never>(),
    );
    this.insertEvent = new PreparedQuery((arg) =>
      db.insertInto("events").values(valuesOf<EventRow>(eventColumns, arg)).$castTo<never>(),
    );
    // Counted in the transaction that holds the write lock, so nobody counts the same one.
    this.insertPublicEvent = new PreparedQuery((arg) =>
      db
        .insertInto("public_events")
        .values({
          ...valuesOf<WrittenPublicEventRow>(publicEventWritten, arg),
          sequence: sql<bigint>`(SELECT coalesce(max(sequence), 0) + 1 FROM public_events WHERE payment_id = ${arg("payment_id")})`,
        })
        .$castTo<never>(),
    );
  }

  override async ping(): Promise<void> {
    await super.ping();
    await this.sqlite.assertWritable();
  }

  protected async write(change: PaymentChange): Promise<boolean> {
    const { payment, expectedVersion, operations, events, publicEvents, entry } = change;
    return this.sqlite.transaction(() => {
      const written =
        expectedVersion === "new"
          ? this.sqlite.run(this.insertPayment.with(payment))
          : this.sqlite.run(this.updatePayment.with({ ...payment, expected: BigInt(expectedVersion) }));
      if (written === 0) return false;
      for (const operation of operations) this.sqlite.run(this.writeOperation.with(operation));
      for (const event of events) this.sqlite.run(this.insertEvent.with(event));
      for (const event of publicEvents) this.sqlite.run(this.insertPublicEvent.with(event));
      this.sqlite.keep(entry);
      return true;
    });
  }
}

function valuesOf<Row>(columns: readonly (keyof Row)[], arg: (name: keyof Row) => unknown): Row {
  return Object.fromEntries(columns.map((column) => [column, arg(column)])) as Row;
}
