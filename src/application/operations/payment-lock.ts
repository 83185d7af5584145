import { paymentResourceId, type PaymentId } from "../../domain/identifiers";
import type { LockHold, LockProvider } from "../ports/lock-provider";
import type { OperatorCaller } from "./caller";

/** Lends a payment's lock for one section, for as long as the caller is willing to wait for it. */
export function withPaymentLock<T>(
  locks: LockProvider,
  { paymentId, purpose, caller }: PaymentLockRequest,
  section: (hold: LockHold) => Promise<T>,
): Promise<T> {
  const { lockTimeout, signal } = caller;
  return locks.withLock(paymentResourceId(paymentId), section, {
    scope: "payment",
    purpose,
    ...(lockTimeout === undefined ? {} : { timeout: lockTimeout }),
    ...(signal === undefined ? {} : { signal }),
  });
}

export interface PaymentLockRequest {
  readonly paymentId: PaymentId;
  /** What others read about the holder. */
  readonly purpose: string;
  readonly caller: Pick<OperatorCaller, "lockTimeout" | "signal">;
}
