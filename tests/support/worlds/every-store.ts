import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { PostgresPaymentRepository } from "../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { migratedPostgres } from "../servers/migrated-postgres";
import { PaymentsWorld, type WorldParts } from "./payments-world";
import { describeWithPostgresSchemas } from "../servers/servers";
import { temporarySqlite } from "./temporary-sqlite";

/** A world on the store under test. What it opened is closed after the test. */
export type OpenWorld = (parts?: Omit<WorldParts, "payments">) => Promise<PaymentsWorld>;

/** The same tests of use cases on each store, for rules that a store can break. */
export function describeOnEveryStore(name: string, tests: (open: OpenWorld) => void): void {
  const opened: (() => Promise<void>)[] = [];
  const closeAll = async () => {
    for (const close of opened.splice(0)) await close();
  };
  describe(`${name}, on memory`, () => {
    tests(async (parts) => new PaymentsWorld({ ...parts, payments: new InMemoryPaymentRepository() }));
  });
  describe(`${name}, on SQLite`, () => {
    tests(async (parts) => {
      const { sqlite, close } = await temporarySqlite();
      opened.push(close);
      return new PaymentsWorld({ ...parts, payments: new SqlitePaymentRepository(sqlite) });
    });
    afterEach(closeAll);
  });
  describeWithPostgresSchemas(`${name}, on PostgreSQL`, (server) => {
    // Each test makes the whole schema, on a server that others use, too.
    jest.setTimeout(30_000);
    tests(async (parts) => {
      const postgres = await migratedPostgres(server.url);
      opened.push(() => postgres.close());
      return new PaymentsWorld({ ...parts, payments: new PostgresPaymentRepository(postgres) });
    });
    afterEach(closeAll);
  });
}
