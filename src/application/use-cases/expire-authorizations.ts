import type { PaymentId } from "../../domain/identifiers";
import { expire, isLapsed } from "../../domain/payment/expiry";
import { openOperationOf } from "../../domain/payment/payment";
import { runPass, WITHOUT_WAITING, type PassReport } from "../background/background-pass";
import { stepNow, underLock, type OperationContext } from "../operations/operation-context";
import { withPaymentLock } from "../operations/payment-lock";
import { findOrResend } from "../operations/find-or-resend";
import type { LockHold, LockProvider } from "../ports/lock-provider";
import type { LapsedAuthorization } from "../ports/payment-repository";

/** For clocks of other machines: a capture that is still in time there must not meet an expired payment here. */
export const EXPIRY_GRACE_MS = 5 * 60_000;

/** Turns lapsed authorizations into `expired`, and has the gateway release the reserved money. */
export class ExpireAuthorizations {
  constructor(
    private readonly locks: LockProvider,
    private readonly operations: OperationContext,
    private readonly onError: (error: unknown, paymentId: PaymentId) => void,
    private readonly graceMs: number = EXPIRY_GRACE_MS,
  ) {}

  execute(signal?: AbortSignal): Promise<PassReport> {
    const { locks, operations, onError } = this;
    const endedBy = this.graceBefore(operations.clock.now());
    return runPass<LapsedAuthorization>(
      {
        page: (limit, after) => operations.payments.lapsedAuthorizations(endedBy, limit, after),
        work: ({ paymentId }) =>
          withPaymentLock(locks, { paymentId, purpose: "expire", caller: WITHOUT_WAITING }, (hold) =>
            this.expire(paymentId, hold),
          ),
        onError,
      },
      signal,
    );
  }

  private async expire(paymentId: PaymentId, hold: LockHold): Promise<boolean> {
    const { operations } = this;
    const work = underLock(operations, hold, { sweeper: true });
    const stored = await operations.payments.find(paymentId);
    if (stored === null) return false;
    const { payment, version } = stored;
    const step = stepNow(operations, work.trace);
    if (!isLapsed(payment, this.graceBefore(step.now))) return false;
    // Its outcome decides what the payment becomes; the next pass comes back.
    if (openOperationOf(payment) !== undefined) return false;
    hold.assertHeld();
    const expired = await operations.payments.save(expire(payment, step), version);
    const release = openOperationOf(expired.payment);
    // If this fails, the release stays due and the reconciler goes on with it.
    if (release !== undefined) await findOrResend(work, expired, release.id);
    return true;
  }

  private graceBefore(now: Date): Date {
    return new Date(now.getTime() - this.graceMs);
  }
}
