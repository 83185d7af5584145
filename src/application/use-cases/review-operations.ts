import { paymentResourceId, type OperationId, type PaymentId } from "../../domain/identifiers";
import { PaymentError } from "../../domain/payment-errors";
import type { ReviewVerdict } from "../../domain/payment-facts";
import { lockTrace, stepAt, type OperationContext } from "../operations/operation-context";
import type { Caller } from "../operations/through-gateway";
import type { LockHold } from "../ports/lock-provider";
import {
  VersionConflictError,
  type Page,
  type ReviewItem,
  type ReviewQuery,
  type StoredPayment,
} from "../ports/payment-repository";

/** As for every other decision: written anew when somebody else was faster. */
const MAX_DECISIONS = 3;

/** What only a person can decide: operations whose outcome the gateway never told, or told in two ways. */
export class ReviewOperations {
  constructor(private readonly context: OperationContext) {}

  list(query: ReviewQuery): Promise<Page<ReviewItem>> {
    return this.context.payments.operationsInReview(query);
  }

  /** Ends the operation by the person's verdict. The caller is an operator: whose payment it is does not matter. */
  async resolve(
    operationId: OperationId,
    verdict: ReviewVerdict,
    caller: Omit<Caller, "merchant">,
  ): Promise<StoredPayment> {
    const { locks, payments } = this.context;
    const paymentId = await payments.findByOperation(operationId);
    if (paymentId === null) throw new PaymentError("operation_not_found", { operationId });
    return locks.withLock(
      paymentResourceId(paymentId),
      (hold) => this.decide(paymentId, operationId, verdict, caller, hold),
      {
        scope: "payment",
        purpose: "review",
        ...(caller.lockTimeout === undefined ? {} : { timeout: caller.lockTimeout }),
        ...(caller.signal === undefined ? {} : { signal: caller.signal }),
      },
    );
  }

  private async decide(
    paymentId: PaymentId,
    operationId: OperationId,
    verdict: ReviewVerdict,
    caller: Omit<Caller, "merchant">,
    hold: LockHold,
  ): Promise<StoredPayment> {
    const { context } = this;
    const trace = { by: caller.actor, ...lockTrace(hold) };
    for (let decisions = 0; decisions < MAX_DECISIONS; decisions += 1) {
      const now = context.clock.now();
      const stored = await context.payments.find(paymentId);
      if (stored === null) throw new PaymentError("operation_not_found", { operationId });
      const decided = stored.payment.resolveReview(operationId, verdict, stepAt(context, now, trace));
      try {
        hold.assertHeld();
        return await context.payments.save(decided, stored.version);
      } catch (error) {
        if (!(error instanceof VersionConflictError)) throw error;
      }
    }
    throw new PaymentError("payment_busy", { paymentId });
  }
}
