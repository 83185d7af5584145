import { SqlitePaymentRepository } from "../../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { capturedPayment } from "../../../support/worlds/payments";
import { openMigrated } from "../../../support/worlds/temporary-sqlite";

// A process that acknowledges saves, one line each, until it is killed.
async function main(path: string): Promise<void> {
  const repository = new SqlitePaymentRepository(await openMigrated(path));
  for (;;) {
    const payment = capturedPayment();
    await repository.save(payment, "new");
    await new Promise((written) => process.stdout.write(`${payment.facts.id}\n`, written));
  }
}

void main(process.argv[2]!);
