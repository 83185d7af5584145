import type { OperationId } from "../../domain/identifiers";
import type { Payment } from "../../domain/payment/payment";
import type { PaymentRepository } from "../ports/payment-repository";

/**
 * The operations that a person has decided against the gateway: those whose last verdict gives a reason for it. The history
 * is where that is kept.
 */
export async function overriddenIn(
  payments: PaymentRepository,
  { facts, newEvents }: Payment,
): Promise<ReadonlySet<OperationId>> {
  const stored = (await payments.events(facts.id)) ?? [];
  const overridden = new Set<OperationId>();
  for (const { type, data } of [...stored, ...newEvents]) {
    if (type !== "review.resolved") continue;
    const id = data["operationId"] as OperationId;
    if (data["overrideReason"] === undefined) overridden.delete(id);
    else overridden.add(id);
  }
  return overridden;
}
