import { parseOperationId, type PaymentId } from "../../domain/identifiers";
import { PASS_PAGE, PASS_PARALLELISM, PassCounter, type PassReport } from "../operations/background-pass";
import { inParallel } from "../operations/in-parallel";
import { lockTrace, stepAt, type OperationContext } from "../operations/operation-context";
import { resolveOperation } from "../operations/resolve-operation";
import type { LapsedAuthorization } from "../ports/payment-repository";

/** For clocks of other machines: a capture that is still in time there must not meet an expired payment here. */
export const EXPIRY_GRACE_MS = 5 * 60_000;

/** Turns lapsed authorizations into `expired`, and has the gateway release the reserved money. */
export class ExpireAuthorizations {
  constructor(
    private readonly context: OperationContext,
    private readonly onError: (error: unknown, paymentId: PaymentId) => void,
    private readonly graceMs: number = EXPIRY_GRACE_MS,
  ) {}

  async execute(signal?: AbortSignal): Promise<PassReport> {
    const { payments, clock, locks } = this.context;
    const counter = new PassCounter(locks, "expire", this.onError);
    const endedBy = new Date(clock.now().getTime() - this.graceMs);
    let after: LapsedAuthorization | undefined;
    do {
      const lapsed = await payments.lapsedAuthorizations(endedBy, PASS_PAGE, after);
      await inParallel(lapsed, PASS_PARALLELISM, async ({ paymentId }) => {
        if (signal?.aborted !== true) await this.expire(paymentId, counter);
      });
      after = lapsed.length === PASS_PAGE ? lapsed.at(-1) : undefined;
    } while (after !== undefined && signal?.aborted !== true);
    return counter.report();
  }

  private expire(paymentId: PaymentId, counter: PassCounter): Promise<void> {
    const { context } = this;
    return counter.attempt(paymentId, async (hold) => {
      const now = context.clock.now();
      const stored = await context.payments.find(paymentId);
      if (stored === null || !stored.payment.isLapsed(new Date(now.getTime() - this.graceMs))) return false;
      // Its outcome decides what the payment becomes; the next pass comes back.
      if (stored.payment.openOperation !== undefined) return false;
      const trace = { by: { sweeper: true }, ...lockTrace(hold) };
      const releaseId = parseOperationId(context.ids.nextId());
      hold.assertHeld();
      const expired = await context.payments.save(
        stored.payment.expire(releaseId, stepAt(context, now, trace)),
        stored.version,
      );
      // If this fails, the release stays due and the reconciler goes on with it.
      await resolveOperation(context, expired, releaseId, hold, trace);
      return true;
    });
  }
}
