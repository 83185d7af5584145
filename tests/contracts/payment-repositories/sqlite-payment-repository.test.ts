import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteDatabase } from "../../../src/infrastructure/persistence/sqlite-database";
import { SqliteMigration } from "../../../src/infrastructure/persistence/sqlite-migration";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite-payment-repository";
import { SystemClock } from "../../../src/infrastructure/time/system-clock";
import { withoutCheck } from "../../support/sqlite-surgery";
import { describePaymentGuards } from "./payment-guards-contract";
import { describePaymentRepository } from "./payment-repository-contract";
import type { PaymentRepositoryHarness } from "./payment-repository-harness";
import { versionBlind } from "./version-blind-repository";

async function make(): Promise<PaymentRepositoryHarness> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-sqlite-"));
  const path = join(folder, "holdfast.db");
  const sqlite = await SqliteDatabase.open(path);
  await new SqliteMigration(sqlite, new SystemClock()).migrate();
  let repository = new SqlitePaymentRepository(sqlite) as PaymentRepositoryHarness["repository"];
  return {
    get repository() {
      return repository;
    },
    rewriteHistory: async (statement) => {
      sqlite.execute(statement);
    },
    removeGuard: async (name) => {
      if (name === "version") repository = versionBlind(repository);
      else if (name === "captured_within_authorized")
        withoutCheck(path, "payments", "captured <= authorized");
      else if (name === "refunded_within_captured") withoutCheck(path, "payments", "refunded <= captured");
      else sqlite.execute(`DROP INDEX ${name}`);
    },
    close: async () => {
      sqlite.close();
      await rm(folder, { recursive: true });
    },
  };
}

describePaymentRepository("SqlitePaymentRepository", make);
describePaymentGuards("SqlitePaymentRepository", make);
