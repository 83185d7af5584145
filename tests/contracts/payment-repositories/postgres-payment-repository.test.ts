import { Client } from "pg";
import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import { PostgresPaymentRepository } from "../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { describePaymentGuards } from "./payment-guards-contract";
import { describePaymentRepository } from "./payment-repository-contract";
import type { PaymentRepositoryHarness } from "./payment-repository-harness";
import { versionBlind } from "./version-blind-repository";

// Each test makes the whole schema, on a server that others use, too.
jest.setTimeout(30_000);

describeWithPostgresSchemas("PostgresPaymentRepository", (server) => {
  async function make(): Promise<PaymentRepositoryHarness> {
    const postgres = await migratedPostgres(server.url);
    const operator = new Client({ connectionString: server.url });
    await operator.connect();
    let repository: PaymentRepository = new PostgresPaymentRepository(postgres);
    return {
      get repository() {
        return repository;
      },
      rewriteHistory: (statement) => operator.query(statement),
      refuseWrites: async () => {
        const [{ name }] = (await operator.query("SELECT current_database() AS name")).rows as [
          { name: string },
        ];
        const othersAgain = () =>
          operator.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()",
            [name],
          );
        await operator.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
        await othersAgain();
        return async () => {
          await operator.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
          await othersAgain();
        };
      },
      removeGuard: async (name) => {
        if (name === "version") repository = versionBlind(repository);
        else if (name.includes("_within_"))
          await operator.query(`ALTER TABLE payments DROP CONSTRAINT ${name}`);
        else await operator.query(`DROP INDEX ${name}`);
      },
      close: async () => {
        await operator.end();
        await postgres.close();
      },
    };
  }

  describePaymentRepository("PostgresPaymentRepository", make);
  describePaymentGuards("PostgresPaymentRepository", make);
});
