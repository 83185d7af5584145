import type { PaymentFacts } from "./facts";
import type { Payment } from "./payment";

/** The payment that a store keeps as this. Only stores make one of facts: everything else takes a step. */
export function restored(facts: PaymentFacts): Payment {
  return { facts, newEvents: [] };
}
