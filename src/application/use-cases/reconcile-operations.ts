import type { PaymentId } from "../../domain/identifiers";
import { isOpen } from "../../domain/payment/operation";
import { operationOf } from "../../domain/payment/payment";
import { runPass, WITHOUT_WAITING, type PassReport } from "../background/background-pass";
import { underLock, type OperationContext } from "../operations/operation-context";
import { withPaymentLock } from "../operations/payment-lock";
import { findOrResend } from "../operations/find-or-resend";
import type { LockHold, LockProvider } from "../ports/lock-provider";
import type { DueOperation } from "../ports/payment-repository";

/** Finishes what crashes, timeouts and lost answers left open: asks the gateway about each operation that is due. */
export class ReconcileOperations {
  constructor(
    private readonly locks: LockProvider,
    private readonly operations: OperationContext,
    private readonly onError: (error: unknown, paymentId: PaymentId) => void,
  ) {}

  execute(signal?: AbortSignal): Promise<PassReport> {
    const { locks, operations, onError } = this;
    const startedAt = operations.clock.now();
    return runPass<DueOperation>(
      {
        page: (limit, after) => operations.payments.dueOperations(startedAt, limit, after),
        work: (due) =>
          withPaymentLock(
            locks,
            { paymentId: due.paymentId, purpose: "reconcile", caller: WITHOUT_WAITING },
            (hold) => this.resolve(due, hold),
          ),
        onError,
      },
      signal,
    );
  }

  private async resolve({ paymentId, operationId }: DueOperation, hold: LockHold): Promise<boolean> {
    const stored = await this.operations.payments.find(paymentId);
    if (stored === null) return false;
    const operation = operationOf(stored.payment, operationId);
    if (operation === undefined || !isOpen(operation)) return false;
    const work = underLock(this.operations, hold, { reconciler: true });
    const { by } = await findOrResend(work, stored, operationId);
    return by !== "row";
  }
}
