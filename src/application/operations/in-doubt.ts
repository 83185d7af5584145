import { LockError } from "../ports/lock-errors";
import { StoreUnavailableError } from "../ports/payment-repository";

/** Whether what was being written may be stored, or may still come to be. */
export function isInDoubt(error: unknown): error is StoreUnavailableError {
  return error instanceof StoreUnavailableError && error.outcome === "unknown";
}

/** Looks once for what may be stored. If the look itself fails, the write stays in doubt. */
export async function lookAgain<Found>(
  doubt: StoreUnavailableError,
  look: () => Promise<Found>,
): Promise<Found> {
  try {
    return await look();
  } catch (error) {
    throw error instanceof StoreUnavailableError || error instanceof LockError ? doubt : error;
  }
}
