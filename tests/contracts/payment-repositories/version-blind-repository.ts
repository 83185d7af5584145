import type { PaymentRepository, StoredPayment } from "../../../src/application/ports/payment-repository";
import type { Payment } from "../../../src/domain/payment/payment";

/** Writes over whatever version is there: what a store does whose version check is gone. */
export function versionBlind(repository: PaymentRepository): PaymentRepository {
  const save = async (payment: Payment): Promise<StoredPayment> =>
    repository.save(payment, (await repository.find(payment.facts.id))?.version ?? "new");
  return new Proxy(repository, {
    get: (target, property) => {
      if (property === "save") return save;
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
