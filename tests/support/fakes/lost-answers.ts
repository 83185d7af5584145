import {
  StoreUnavailableError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import type { PaymentsWorld } from "../worlds/payments-world";

/** The next save is stored and its answer lost, and from then on the store is down, until its answers come back. */
export function loseAnswers(world: PaymentsWorld): { comeBack(): void } {
  const { payments } = world.context;
  const { save, find } = payments;
  const down = () => Promise.reject(new StoreUnavailableError("down"));
  const losing: Pick<PaymentRepository, "save" | "find"> = {
    find,
    save: async (...args) => {
      await save.apply(payments, args);
      Object.assign(payments, { find: down, save: down });
      throw new StoreUnavailableError("its answer was lost", { outcome: "unknown" });
    },
  };
  Object.assign(payments, losing);
  return { comeBack: () => void Object.assign(payments, { save, find }) };
}
