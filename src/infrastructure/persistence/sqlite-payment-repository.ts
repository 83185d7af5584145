import {
  eventColumns,
  operationChanging,
  operationColumns,
  paymentChanging,
  paymentColumns,
} from "./columns";
import type { WrittenPaymentRow } from "./payment-rows";
import { PreparedQuery } from "./prepared-query";
import { SqlPaymentRepository, type PaymentChange } from "./sql-payment-repository";
import type { SqliteDatabase } from "./sqlite-database";
import type { EventRow, OperationRow } from "./tables";

/**
 * Payments in one SQLite file. Excludes nobody: order is the lock's work, truth the version's and the schema's.
 * Survives the death of process and machine with everything it acknowledged.
 * Not for several servers at once: those share PostgreSQL.
 */
export class SqlitePaymentRepository extends SqlPaymentRepository {
  private readonly insertPayment: PreparedQuery<WrittenPaymentRow, never>;
  private readonly updatePayment: PreparedQuery<WrittenPaymentRow & { readonly expected: bigint }, never>;
  private readonly writeOperation: PreparedQuery<OperationRow, never>;
  private readonly insertEvent: PreparedQuery<EventRow, never>;

  constructor(private readonly sqlite: SqliteDatabase) {
    super(sqlite);
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
        .values(valuesOf<OperationRow>(operationColumns, arg))
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
  }

  override async ping(): Promise<void> {
    await super.ping();
    await this.sqlite.assertWritable();
  }

  protected async write({ payment, expectedVersion, operations, events }: PaymentChange): Promise<boolean> {
    return this.sqlite.transaction(() => {
      const written =
        expectedVersion === "new"
          ? this.sqlite.run(this.insertPayment.with(payment))
          : this.sqlite.run(this.updatePayment.with({ ...payment, expected: BigInt(expectedVersion) }));
      if (written === 0) return false;
      for (const operation of operations) this.sqlite.run(this.writeOperation.with(operation));
      for (const event of events) this.sqlite.run(this.insertEvent.with(event));
      return true;
    });
  }
}

function valuesOf<Row>(columns: readonly (keyof Row)[], arg: (name: keyof Row) => unknown): Row {
  return Object.fromEntries(columns.map((column) => [column, arg(column)])) as Row;
}
