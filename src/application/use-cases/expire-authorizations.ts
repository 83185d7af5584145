import type { PaymentId } from "../../domain/identifiers";
import { expire, isLapsed } from "../../domain/payment/expiry";
import { isVoidInVain } from "../../domain/payment/operation";
import { openOperationOf } from "../../domain/payment/payment";
import { runPass, WITHOUT_WAITING, type PassReport } from "../background/background-pass";
import { inBackground, stepNow, underLock, type OperationContext } from "../operations/operation-context";
import { withPaymentLock } from "../operations/payment-lock";
import { observePictureAlone } from "../observation/observe-picture-alone";
import { findOrResend } from "../operations/find-or-resend";
import type { LockHold, LockProvider } from "../ports/lock-provider";
import type { LapsedAuthorization, StoredPayment } from "../ports/payment-repository";

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
    const { operations, onError } = this;
    const endedBy = this.graceBefore(operations.clock.now());
    return runPass<LapsedAuthorization>(
      {
        page: (limit, after) => operations.payments.lapsedAuthorizations(endedBy, limit, after),
        work: ({ paymentId }) => inBackground(operations, "expire", null, () => this.endAndLook(paymentId)),
        onError,
      },
      signal,
    );
  }

  private async endAndLook(paymentId: PaymentId): Promise<boolean> {
    const { locks, operations } = this;
    const caller = WITHOUT_WAITING;
    const expired = await withPaymentLock(locks, { paymentId, purpose: "expire", caller }, (hold) =>
      this.expire(paymentId, hold),
    );
    if (expired === null) return false;
    const release = openOperationOf(expired.payment);
    if (release !== undefined && isVoidInVain(release)) {
      // In a hold of its own: one hold has time for one send.
      await observePictureAlone(locks, operations, paymentId, { caller, by: { sweeper: true } });
    }
    return true;
  }

  /** Null if it is not to be done, or not yet. */
  private async expire(paymentId: PaymentId, hold: LockHold): Promise<StoredPayment | null> {
    const { operations } = this;
    const work = underLock(operations, hold, { sweeper: true });
    const stored = await operations.payments.find(paymentId);
    if (stored === null) return null;
    const { payment, version } = stored;
    const step = stepNow(operations, work.trace);
    if (!isLapsed(payment, this.graceBefore(step.now))) return null;
    // Its outcome decides what the payment becomes; the next pass comes back.
    if (openOperationOf(payment) !== undefined) return null;
    hold.assertHeld();
    const expired = await operations.payments.save(expire(payment, step), version);
    const release = openOperationOf(expired.payment);
    // If this fails, the release stays due and the reconciler goes on with it.
    return release === undefined ? expired : (await findOrResend(work, expired, release.id)).stored;
  }

  private graceBefore(now: Date): Date {
    return new Date(now.getTime() - this.graceMs);
  }
}
