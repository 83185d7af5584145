import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { inMemoryGuards } from "../../../src/infrastructure/persistence/memory/in-memory-guards";
import { describePaymentGuards } from "./payment-guards-contract";
import { describePaymentRepository } from "./payment-repository-contract";
import type { PaymentRepositoryHarness } from "./payment-repository-harness";

async function make(): Promise<PaymentRepositoryHarness> {
  const guards = [...inMemoryGuards];
  return {
    repository: new InMemoryPaymentRepository(guards),
    removeGuard: async (name) => {
      guards.splice(
        guards.findIndex((guard) => guard.name === name),
        1,
      );
    },
    close: async () => {},
  };
}

describePaymentRepository("InMemoryPaymentRepository", make);
describePaymentGuards("InMemoryPaymentRepository", make);
