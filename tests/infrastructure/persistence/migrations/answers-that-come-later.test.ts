import {
  VersionConflictError,
  type PaymentRepository,
} from "../../../../src/application/ports/payment-repository";
import { answersThatComeLater } from "../../../../src/infrastructure/persistence/migrations/versions/from-0010/0013-answers-that-come-later";
import { PostgresPaymentRepository } from "../../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { SqlitePaymentRepository } from "../../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { migratedPostgres } from "../../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../../support/servers/servers";
import {
  authorizedPayment,
  capturedPayment,
  capturingPayment,
  forged,
} from "../../../support/worlds/payments";
import { temporarySqlite } from "../../../support/worlds/temporary-sqlite";

const existing = [capturedPayment(), capturingPayment()];

/** As the tables were, with what was in them. */
const undone = [
  "DROP INDEX one_open_operation",
  "ALTER TABLE operations DROP COLUMN decides_by",
  `CREATE UNIQUE INDEX one_open_operation ON operations (payment_id)
    WHERE status IN ('started', 'unknown', 'needs_review')`,
];

async function expectUpgraded(repository: PaymentRepository): Promise<void> {
  for (const { facts } of existing) expect((await repository.find(facts.id))?.payment.facts).toEqual(facts);
  const authorized = authorizedPayment();
  const waiting = capturingPayment(authorized);
  const [authorize, capture] = waiting.facts.operations;
  const pending = forged(waiting, { operations: [authorize!, { ...capture!, status: "pending" }] });
  await repository.save(pending, "new");
  const another = forged(authorized, { operations: capturingPayment(authorized).facts.operations });
  await expect(repository.save(another, 1)).rejects.toThrow(VersionConflictError);
}

describe("what was written before answers could come later", () => {
  it("what was written before is as it was after the upgrade of SQLite, and a pending operation is open", async () => {
    const { sqlite, close } = await temporarySqlite();
    try {
      const before = new SqlitePaymentRepository(sqlite);
      for (const payment of existing) await before.save(payment, "new");
      for (const statement of [...undone, ...answersThatComeLater.statements("sqlite")])
        sqlite.execute(statement);
      await expectUpgraded(new SqlitePaymentRepository(sqlite));
    } finally {
      await close();
    }
  });
});

describeWithPostgresSchemas("what was written before answers could come later", (server) => {
  it("what was written before is as it was after the upgrade of PostgreSQL, and a pending operation is open", async () => {
    const postgres = await migratedPostgres(server.url);
    try {
      const before = new PostgresPaymentRepository(postgres);
      for (const payment of existing) await before.save(payment, "new");
      for (const statement of [...undone, ...answersThatComeLater.statements("postgres")])
        await postgres.session((client) => client.query(statement));
      await expectUpgraded(new PostgresPaymentRepository(postgres));
    } finally {
      await postgres.close();
    }
  });
});
