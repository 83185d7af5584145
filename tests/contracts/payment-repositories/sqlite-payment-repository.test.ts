import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { withoutCheck } from "../../support/worlds/sqlite-surgery";
import { temporarySqlite } from "../../support/worlds/temporary-sqlite";
import { describePaymentGuards } from "./payment-guards-contract";
import { describePaymentRepository } from "./payment-repository-contract";
import type { PaymentRepositoryHarness } from "./payment-repository-harness";
import { versionBlind } from "./version-blind-repository";

async function make(): Promise<PaymentRepositoryHarness> {
  const { sqlite, path, close } = await temporarySqlite();
  let repository: PaymentRepository = new SqlitePaymentRepository(sqlite);
  return {
    get repository() {
      return repository;
    },
    rewriteHistory: async (statement) => {
      sqlite.execute(statement);
    },
    refuseWrites: async () => {
      sqlite.execute("PRAGMA query_only = ON");
      return async () => sqlite.execute("PRAGMA query_only = OFF");
    },
    removeGuard: async (name) => {
      if (name === "version") repository = versionBlind(repository);
      else if (name === "captured_within_authorized")
        withoutCheck(path, "payments", "captured <= authorized");
      else if (name === "refunded_within_captured") withoutCheck(path, "payments", "refunded <= captured");
      else sqlite.execute(`DROP INDEX ${name}`);
    },
    close,
  };
}

describePaymentRepository("SqlitePaymentRepository", make);
describePaymentGuards("SqlitePaymentRepository", make);
