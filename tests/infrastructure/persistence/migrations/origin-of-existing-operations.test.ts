import type { PaymentRepository } from "../../../../src/application/ports/payment-repository";
import { movementsElsewhere } from "../../../../src/infrastructure/persistence/migrations/versions/from-0010/0010-movements-elsewhere";
import { PostgresPaymentRepository } from "../../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { SqlitePaymentRepository } from "../../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { migratedPostgres } from "../../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../../support/servers/servers";
import { capturedPayment } from "../../../support/worlds/payments";
import { temporarySqlite } from "../../../support/worlds/temporary-sqlite";

const existing = capturedPayment();

/** As the tables were, with what was in them. */
const undone = [
  "DROP INDEX one_operation_per_movement_elsewhere",
  "ALTER TABLE operations DROP COLUMN origin",
  "ALTER TABLE payments DROP COLUMN disputes",
];

async function expectOurs(repository: PaymentRepository): Promise<void> {
  const found = (await repository.find(existing.facts.id))?.payment.facts;
  expect(found).toEqual(existing.facts);
  expect(found?.operations.map(({ origin }) => origin)).toEqual(["holdfast", "holdfast"]);
  expect(found?.disputes).toEqual([]);
}

describe("what was written before others' movements were known", () => {
  it("what was written before others' movements were known is ours in SQLite, and undisputed", async () => {
    const { sqlite, close } = await temporarySqlite();
    try {
      await new SqlitePaymentRepository(sqlite).save(existing, "new");
      for (const statement of [...undone, ...movementsElsewhere.statements("sqlite")])
        sqlite.execute(statement);
      await expectOurs(new SqlitePaymentRepository(sqlite));
    } finally {
      await close();
    }
  });
});

describeWithPostgresSchemas("what was written before others' movements were known", (server) => {
  it("what was written before others' movements were known is ours in PostgreSQL, and undisputed", async () => {
    const postgres = await migratedPostgres(server.url);
    try {
      await new PostgresPaymentRepository(postgres).save(existing, "new");
      for (const statement of [...undone, ...movementsElsewhere.statements("postgres")])
        await postgres.session((client) => client.query(statement));
      await expectOurs(new PostgresPaymentRepository(postgres));
    } finally {
      await postgres.close();
    }
  });
});
