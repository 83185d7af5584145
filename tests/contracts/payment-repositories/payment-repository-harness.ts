import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import type { GuardName } from "../../../src/infrastructure/persistence/memory/in-memory-guards";

/** A store of the test's own, and the means to take its guards away, so that each can be seen to be alive. */
export interface PaymentRepositoryHarness {
  readonly repository: PaymentRepository;
  /** Writes past every port: to see that history cannot be rewritten. Undefined where there is no way past. */
  readonly rewriteHistory?: (statement: string) => Promise<unknown>;
  /** Lets the store refuse every write, until what it resolves with is called. Undefined where none can be refused. */
  readonly refuseWrites?: () => Promise<() => Promise<unknown>>;
  removeGuard(name: GuardName): Promise<void>;
  close(): Promise<void>;
}
