import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { PostgresPaymentRepository } from "../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { SqlMerchantAccountStore } from "../../../src/infrastructure/persistence/sql/sql-merchant-account-store";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { migratedPostgres } from "../servers/migrated-postgres";
import { PaymentsWorld, type WorldParts } from "./payments-world";
import { describeWithPostgresSchemas } from "../servers/servers";
import { temporarySqlite } from "./temporary-sqlite";

/** A world on the store under test. What it opened is closed after the test. */
export type OpenWorld = (parts?: Omit<WorldParts, "payments">) => Promise<PaymentsWorld>;

/** What the store under test keeps: payments, and what a world would otherwise keep in memory. */
export type OpenStores = Required<Pick<WorldParts, "payments">> & Pick<WorldParts, "merchantAccounts">;

/** The same tests of use cases on each store, for rules that a store can break. */
export function describeOnEveryStore(name: string, tests: (open: OpenWorld) => void): void {
  describeWithEveryStore(name, (open) =>
    tests(async (parts) => new PaymentsWorld({ ...parts, ...(await open()) })),
  );
}

/** The same tests with each store, each test with an empty one, which is closed after it. */
export function describeWithEveryStore(name: string, tests: (open: () => Promise<OpenStores>) => void): void {
  const opened: (() => Promise<void>)[] = [];
  const closeAll = async () => {
    for (const close of opened.splice(0)) await close();
  };
  describe(`${name}, on memory`, () => {
    tests(async () => ({ payments: new InMemoryPaymentRepository() }));
  });
  describe(`${name}, on SQLite`, () => {
    tests(async () => {
      const { sqlite, close } = await temporarySqlite();
      opened.push(close);
      return {
        payments: new SqlitePaymentRepository(sqlite),
        merchantAccounts: new SqlMerchantAccountStore(sqlite),
      };
    });
    afterEach(closeAll);
  });
  describeWithPostgresSchemas(`${name}, on PostgreSQL`, (server) => {
    // Each test makes the whole schema, on a server that others use, too.
    jest.setTimeout(30_000);
    tests(async () => {
      const postgres = await migratedPostgres(server.url);
      opened.push(() => postgres.close());
      return {
        payments: new PostgresPaymentRepository(postgres),
        merchantAccounts: new SqlMerchantAccountStore(postgres),
      };
    });
    afterEach(closeAll);
  });
}
