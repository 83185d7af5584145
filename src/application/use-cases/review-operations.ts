import { paymentResourceId, type OperationId, type PaymentId } from "../../domain/identifiers";
import { gatewayKey } from "../../domain/operation";
import { PaymentError } from "../../domain/payment-errors";
import type { ReviewVerdict } from "../../domain/payment-facts";
import { lockTrace, stepAt, type OperationContext } from "../operations/operation-context";
import type { Caller } from "../operations/through-gateway";
import type { LockHold } from "../ports/lock-provider";
import {
  DuplicateAuthorizationError,
  VersionConflictError,
  type Page,
  type ReviewItem,
  type ReviewQuery,
  type StoredPayment,
} from "../ports/payment-repository";

/** As for every other decision: written anew when somebody else was faster. */
const MAX_DECISIONS = 3;

/** What a person needs to look the operation up at the gateway. */
export interface ReviewCase extends ReviewItem {
  /** Why nobody else can decide; as the payment's history has it. */
  readonly reason: string;
  readonly since: Date;
  readonly gatewayKey: string;
  /** What the gateway calls the authorization, if it ever said so. */
  readonly authorizationReference: string | null;
}

/** What only a person can decide: operations whose outcome the gateway never told, or told in two ways. */
export class ReviewOperations {
  constructor(private readonly context: OperationContext) {}

  async list(query: ReviewQuery): Promise<Page<ReviewCase>> {
    const { data, nextCursor } = await this.context.payments.operationsInReview(query);
    // Two questions for each: there are few of them, and whoever asks is about to spend minutes on one.
    const cases = await Promise.all(data.map((item) => this.caseOf(item)));
    return { data: cases.filter((one) => one !== null), nextCursor };
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

  /** Null if it was decided since the list was read. */
  private async caseOf(item: ReviewItem): Promise<ReviewCase | null> {
    const { payments } = this.context;
    const [stored, events] = await Promise.all([
      payments.find(item.paymentId),
      payments.events(item.paymentId),
    ]);
    const operation = stored?.payment.operation(item.operationId);
    const brought = events?.findLast(
      ({ type, data }) => type === "operation.needs_review" && data["operationId"] === item.operationId,
    );
    if (stored === null || operation === undefined || brought === undefined) return null;
    if (operation.status !== "needs_review") return null;
    return {
      ...item,
      reason: String(brought.data["reason"]),
      since: brought.at,
      gatewayKey: gatewayKey(operation),
      authorizationReference: stored.payment.facts.authorizationReference,
    };
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
        if (error instanceof DuplicateAuthorizationError) {
          const { authorizationReference: gatewayReference } = error;
          throw new PaymentError("authorization_already_imported", { gatewayReference });
        }
        if (!(error instanceof VersionConflictError)) throw error;
      }
    }
    throw new PaymentError("payment_busy", { paymentId });
  }
}
