import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite-payment-repository";
import { capturedPayment } from "../../support/payments";
import { openMigrated } from "../../support/temporary-sqlite";

// A process that acknowledges saves, one line each, until it is killed.
async function main(path: string): Promise<void> {
  const repository = new SqlitePaymentRepository(await openMigrated(path));
  for (;;) {
    const payment = capturedPayment();
    await repository.save(payment, "new");
    await new Promise((written) => process.stdout.write(`${payment.id}\n`, written));
  }
}

void main(process.argv[2]!);
