import type { PaymentId } from "../../domain/identifiers";
import { isOpen, isVoidInVain } from "../../domain/payment/operation";
import { operationOf } from "../../domain/payment/payment";
import { runPass, WITHOUT_WAITING, type PassReport } from "../background/background-pass";
import { inBackground, underLock, type OperationContext } from "../operations/operation-context";
import { withPaymentLock } from "../operations/payment-lock";
import { findOrResend, type Resolved } from "../operations/find-or-resend";
import { observePictureAlone } from "../observation/observe-picture-alone";
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
    const { operations, onError } = this;
    const startedAt = operations.clock.now();
    return runPass<DueOperation>(
      {
        page: (limit, after) => operations.payments.dueOperations(startedAt, limit, after),
        work: (due) => inBackground(operations, "reconcile", due.operationId, () => this.reconcile(due)),
        onError,
      },
      signal,
    );
  }

  private async reconcile(due: DueOperation): Promise<boolean> {
    const { locks, operations } = this;
    const { paymentId } = due;
    const resolved = await withPaymentLock(
      locks,
      { paymentId, purpose: "reconcile", caller: WITHOUT_WAITING },
      (hold) => this.resolve(due, hold),
    );
    if (resolved === null || resolved.by === "row") return false;
    const after = operationOf(resolved.stored.payment, due.operationId);
    if (after !== undefined && isVoidInVain(after)) {
      // In a hold of its own: one hold has time for one send.
      const observer = { caller: WITHOUT_WAITING, by: { reconciler: true } };
      await observePictureAlone(locks, operations, paymentId, observer);
    }
    return true;
  }

  private async resolve({ paymentId, operationId }: DueOperation, hold: LockHold): Promise<Resolved | null> {
    const stored = await this.operations.payments.find(paymentId);
    if (stored === null) return null;
    const operation = operationOf(stored.payment, operationId);
    if (operation === undefined || !isOpen(operation)) return null;
    return findOrResend(underLock(this.operations, hold, { reconciler: true }), stored, operationId);
  }
}
