import type { PaymentId } from "../../domain/identifiers";
import type { EventData } from "../../domain/payment/events";
import { askPicture } from "../operations/ask-gateway";
import type { OperatorCaller } from "../operations/caller";
import { underLock, type OperationContext, type UnderLock } from "../operations/operation-context";
import { withPaymentLock } from "../operations/payment-lock";
import { retryOnConflict } from "../operations/retry-on-conflict";
import type { LockProvider } from "../ports/lock-provider";
import type { StoredPayment } from "../ports/payment-repository";
import { applyPicture } from "./apply-picture";
import { overriddenIn } from "./overridden";

/** Takes over what the gateway's picture of a payment shows, in a hold of its own. Nothing where there is no picture. */
export async function observePictureAlone(
  locks: LockProvider,
  context: OperationContext,
  paymentId: PaymentId,
  { caller, by }: { readonly caller: Omit<OperatorCaller, "actor">; readonly by: EventData },
): Promise<void> {
  if (context.gateway.picture === undefined) return;
  await withPaymentLock(locks, { paymentId, purpose: "observe", caller }, async (hold) => {
    await writePicture(underLock(context, hold, by), paymentId);
  });
}

/**
 * Asked after the payment was read, and written only if nobody has written it since: so the picture is never older than
 * what it is compared with. Null if there is no such payment.
 */
async function writePicture(work: UnderLock, paymentId: PaymentId): Promise<StoredPayment | null> {
  const { context, hold, trace } = work;
  return retryOnConflict(paymentId, async () => {
    const stored = await context.payments.find(paymentId);
    if (stored === null) return null;
    const picture = await askPicture(context.gateway, stored.payment);
    if (picture === null) return stored;
    const overridden = await overriddenIn(context.payments, stored.payment);
    const next = applyPicture(context, stored.payment, picture, { trace, overridden });
    if (next === stored.payment) return stored;
    hold.assertHeld();
    return context.payments.save(next, stored.version);
  });
}
