import { operationOf } from "../../../../src/domain/payment/payment";
import type { PaymentRepository } from "../../../../src/application/ports/payment-repository";
import { reviewsAreAskedAbout } from "../../../../src/infrastructure/persistence/migrations/versions/from-0001/0006-reviews-are-asked-about";
import { PostgresPaymentRepository } from "../../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { SqlitePaymentRepository } from "../../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { migratedPostgres } from "../../../support/servers/migrated-postgres";
import {
  after,
  capturedPayment,
  capturingPayment,
  forged,
  inReview,
  WEEK_MS,
} from "../../../support/worlds/payments";
import { describeWithPostgresSchemas } from "../../../support/servers/servers";
import { temporarySqlite } from "../../../support/worlds/temporary-sqlite";

/** What waited for a person before anybody was asked about it, and what the migration has to leave alone. */
const waiting = changed({ dueAt: null, attempts: 6 });
const contradicted = changed({ dueAt: null, conflicted: true });
const others = [capturingPayment(), capturedPayment(), contradicted];

function changed(change: object) {
  const payment = inReview(capturingPayment());
  const [authorize, capture] = payment.facts.operations;
  return forged(payment, { operations: [authorize!, { ...capture!, ...change }] });
}

async function expectQuestions(repository: PaymentRepository, migrate: () => Promise<void>): Promise<void> {
  for (const payment of [waiting, ...others]) await repository.save(payment, "new");
  await migrate();
  const operation = waiting.facts.operations[1]!;
  expect(operationOf((await repository.find(waiting.facts.id))!.payment, operation.id)).toEqual({
    ...operation,
    dueAt: operation.createdAt,
    attempts: 0,
  });
  for (const { facts } of others) expect((await repository.find(facts.id))?.payment.facts).toEqual(facts);
  const due = await repository.dueOperations(after(WEEK_MS), 10);
  expect(due.map(({ operationId }) => operationId)).toContain(operation.id);
}

describe("what was in review before is asked about at once, after the migration", () => {
  it("what was in review before is asked about at once, after the migration of SQLite", async () => {
    const { sqlite, close } = await temporarySqlite();
    try {
      await expectQuestions(new SqlitePaymentRepository(sqlite), async () => {
        for (const statement of reviewsAreAskedAbout.statements("sqlite")) sqlite.execute(statement);
      });
    } finally {
      await close();
    }
  });
});

describeWithPostgresSchemas(
  "what was in review before is asked about at once, after the migration",
  (server) => {
    it("what was in review before is asked about at once, after the migration of PostgreSQL", async () => {
      const postgres = await migratedPostgres(server.url);
      try {
        await expectQuestions(new PostgresPaymentRepository(postgres), () =>
          postgres.session(async (client) => {
            for (const statement of reviewsAreAskedAbout.statements("postgres"))
              await client.query(statement);
          }),
        );
      } finally {
        await postgres.close();
      }
    });
  },
);
