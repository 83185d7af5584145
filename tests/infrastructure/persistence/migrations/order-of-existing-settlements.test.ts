import type { PaymentRepository } from "../../../../src/application/ports/payment-repository";
import { InMemoryPaymentRepository } from "../../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { settledSequenceKept } from "../../../../src/infrastructure/persistence/migrations/versions/from-0001/0004-settled-sequence";
import { PostgresPaymentRepository } from "../../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { SqlitePaymentRepository } from "../../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { migratedPostgres } from "../../../support/servers/migrated-postgres";
import {
  after,
  capturedPayment,
  capturingPayment,
  forged,
  forgedOperation,
} from "../../../support/worlds/payments";
import { describeWithPostgresSchemas } from "../../../support/servers/servers";
import { temporarySqlite } from "../../../support/worlds/temporary-sqlite";

/** The migration without its first statement: the column is there. */
const [, fill = ""] = settledSequenceKept.statements("sqlite");

/** As it was before the order was kept: only the times are left. The first refund ended last. */
const captured = capturedPayment();
const existing = forged(captured, {
  operations: [
    ...captured.facts.operations,
    forgedOperation(captured, { kind: "refund", amount: 200n, settledAt: after(9) }),
    forgedOperation(captured, { kind: "refund", amount: 300n, settledAt: after(5), status: "failed" }),
  ].map((operation) => ({ ...operation, settledSequence: null })),
});
const open = capturingPayment();

async function expectOrder(repository: PaymentRepository): Promise<void> {
  const found = await repository.find(existing.facts.id);
  expect(found?.payment.facts.operations.map(({ settledSequence }) => settledSequence)).toEqual([1, 2, 4, 3]);
  const other = await repository.find(open.facts.id);
  expect(other?.payment.facts.operations.map(({ settledSequence }) => settledSequence)).toEqual([1, null]);
}

describe("what ended before the order of ends was kept is ordered by its times", () => {
  it("what ended before the order of ends was kept is ordered by its times in SQLite", async () => {
    const { sqlite, close } = await temporarySqlite();
    try {
      const repository = new SqlitePaymentRepository(sqlite);
      for (const payment of [existing, open]) await repository.save(payment, "new");
      sqlite.execute(fill);
      await expectOrder(repository);
    } finally {
      await close();
    }
  });

  it("what ended before the order of ends was kept is ordered by its times in a snapshot of a store in memory", async () => {
    const before = new InMemoryPaymentRepository();
    for (const payment of [existing, open]) await before.save(payment, "new");
    const snapshot = before.snapshot();
    const payments = snapshot.payments.map((payment) => ({
      ...payment,
      facts: {
        ...payment.facts,
        operations: payment.facts.operations.map(({ settledSequence: _, ...kept }) => kept),
      },
    }));
    const restored = new InMemoryPaymentRepository();
    restored.restore({ ...snapshot, payments });
    await expectOrder(restored);
  });
});

describeWithPostgresSchemas(
  "what ended before the order of ends was kept is ordered by its times",
  (server) => {
    it("what ended before the order of ends was kept is ordered by its times in PostgreSQL", async () => {
      const postgres = await migratedPostgres(server.url);
      try {
        const repository = new PostgresPaymentRepository(postgres);
        for (const payment of [existing, open]) await repository.save(payment, "new");
        await postgres.session((client) => client.query(fill));
        await expectOrder(repository);
      } finally {
        await postgres.close();
      }
    });
  },
);
