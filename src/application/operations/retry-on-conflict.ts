import type { PaymentId } from "../../domain/identifiers";
import { PaymentError } from "../../domain/payment/errors";
import { VersionConflictError } from "../ports/payment-repository";

/** How often a decision is made because the payment was written between reading and writing. */
export const MAX_DECISIONS = 3;

/** Reads, decides and writes; and does so anew if the payment was written in between. */
export async function retryOnConflict<T>(paymentId: PaymentId, decide: () => Promise<T>): Promise<T> {
  for (let decisions = 0; decisions < MAX_DECISIONS; decisions += 1) {
    try {
      return await decide();
    } catch (error) {
      if (!(error instanceof VersionConflictError)) throw error;
    }
  }
  throw new PaymentError("payment_busy", { paymentId });
}
