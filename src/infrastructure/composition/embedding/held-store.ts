import { hostname } from "node:os";
import { describeHolder, LockError, LockTimeoutError } from "../../../application/ports/lock-errors";

/** Data that somebody has open already, in words for a program that has options and no flags. */
export class HeldStoreError extends LockError {
  readonly code = "lock_timeout";

  constructor({ resourceId, holder, wait }: LockTimeoutError, options: ErrorOptions) {
    const isOurs = holder?.pid === process.pid && holder.host === hostname();
    const words = isOurs
      ? "this process has it open already: share what the first openHoldfast resolved with, or close() it before"
      : `${describeHolder(holder)} has it open: end that process first, or keep the payments in PostgreSQL (store: "postgres://…"), which several can share`;
    super(resourceId, `${resourceId}: ${words}`, { ...options, wait });
  }
}

export async function inOwnWords<T>(open: Promise<T>): Promise<T> {
  return open.catch((error: unknown) => {
    // Without a holder, it says what is known of the other name of the file.
    if (error instanceof LockTimeoutError && error.holder !== undefined)
      throw new HeldStoreError(error, { cause: error });
    throw error;
  });
}
