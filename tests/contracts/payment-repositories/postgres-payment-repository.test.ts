import { Client } from "pg";
import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import { PostgresPaymentRepository } from "../../../src/infrastructure/persistence/postgres-payment-repository";
import { describeWithPostgresSchemas } from "../../support/servers";
import { migratedPostgres } from "../../support/migrated-postgres";
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
