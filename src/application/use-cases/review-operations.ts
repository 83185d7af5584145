import { paymentResourceId, type OperationId, type PaymentId } from "../../domain/identifiers";
import { gatewayKey, isInReview, type Operation } from "../../domain/operation";
import type { Payment } from "../../domain/payment";
import { PaymentError } from "../../domain/payment-errors";
import type { EventData, PaymentEvent } from "../../domain/payment-events";
import type { ReviewVerdict } from "../../domain/payment-facts";
import { underReview } from "../../domain/payment-review";
import { TWO_ANSWERS } from "../../domain/payment-settlement";
import { find, gatewayTrace } from "../operations/ask-gateway";
import { isInDoubt, lookAgain } from "../operations/in-doubt";
import { lockTrace, stepAt, type OperationContext } from "../operations/operation-context";
import { nextReviewDueAt, reviewScheduleMs } from "../operations/reconcile-schedule";
import { resolveAsFarAsPossible } from "../operations/resolve-operation";
import type { Caller } from "../operations/through-gateway";
import type { LockHold } from "../ports/lock-provider";
import {
  DuplicateAuthorizationError,
  VersionConflictError,
  type Page,
  type ReviewItem,
  type ReviewQuery,
  type StoredPayment,
  type StoreUnavailableError,
} from "../ports/payment-repository";

/** As for every other decision: written anew when somebody else was faster. */
const MAX_DECISIONS = 3;
/** "Still pending" puts the next question off to the longest step of the schedule. */
const PENDING_ATTEMPTS = reviewScheduleMs.length - 1;

/** What a person needs to look the operation up at the gateway. */
export interface ReviewCase extends ReviewItem {
  /** As callers see it now: one that was contradicted may still count as finished. */
  readonly operation: Operation;
  /** Why nobody else can decide; as the payment's history has it. */
  readonly reason: string;
  readonly since: Date;
  readonly gatewayKey: string;
  /** How the payment's amounts count; null if that is not known. */
  readonly currencyExponent: number | null;
  /** What the gateway calls the authorization, if it ever said so. */
  readonly authorizationReference: string | null;
}

/** One operation's way into review, and what became of it. */
export interface ReviewHistory {
  readonly payment: Payment;
  readonly operation: Operation;
  readonly events: readonly PaymentEvent[];
}

/** What only a person can decide: operations whose outcome the gateway never told, or told in two ways. */
export class ReviewOperations {
  constructor(private readonly context: OperationContext) {}

  async list({ limit, cursor }: ReviewQuery): Promise<Page<ReviewCase>> {
    const { payments } = this.context;
    const cases: ReviewCase[] = [];
    let next: string | null | undefined = cursor;
    // What was decided since the page was read is no case any more: the next ones take its place.
    do {
      const page: Page<ReviewItem> = await payments.operationsInReview({
        limit: limit - cases.length,
        ...(typeof next === "string" ? { cursor: next } : {}),
      });
      // Two questions for each: there are few of them, and whoever asks is about to spend minutes on one.
      const found = await Promise.all(page.data.map((item) => this.caseOf(item)));
      cases.push(...found.filter((one) => one !== null));
      next = page.nextCursor;
    } while (next !== null && cases.length < limit);
    return { data: cases, nextCursor: next };
  }

  /** Whoever's payment it is, and also when it has been decided. */
  async one(operationId: OperationId): Promise<ReviewHistory> {
    const { payments } = this.context;
    const paymentId = await this.paymentOf(operationId);
    const [stored, events] = await Promise.all([payments.find(paymentId), payments.events(paymentId)]);
    const operation = stored?.payment.operation(operationId);
    if (stored === null || operation === undefined) {
      throw new PaymentError("operation_not_found", { operationId });
    }
    const own = (events ?? []).filter(({ data }) => data["operationId"] === operationId);
    return { payment: stored.payment, operation, events: own };
  }

  /**
   * Writes down the person's verdict, after the gateway was asked once more. The caller is an operator: whose payment it
   * is does not matter.
   */
  async resolve(
    operationId: OperationId,
    verdict: ReviewVerdict,
    caller: Omit<Caller, "merchant">,
  ): Promise<StoredPayment> {
    const { locks } = this.context;
    const paymentId = await this.paymentOf(operationId);
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

  private async paymentOf(operationId: OperationId): Promise<PaymentId> {
    const paymentId = await this.context.payments.findByOperation(operationId);
    if (paymentId === null) throw new PaymentError("operation_not_found", { operationId });
    return paymentId;
  }

  /** Null if it was decided since the list was read. */
  private async caseOf(item: ReviewItem): Promise<ReviewCase | null> {
    const { payments } = this.context;
    const [stored, events] = await Promise.all([
      payments.find(item.paymentId),
      payments.events(item.paymentId),
    ]);
    const operation = stored?.payment.operation(item.operationId);
    if (stored === null || operation === undefined || !isInReview(operation)) return null;
    const { reason, since } = whyInReview(operation, events ?? []);
    return {
      ...item,
      operation,
      reason,
      since,
      gatewayKey: gatewayKey(operation),
      currencyExponent: stored.payment.facts.amount.exponent,
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
    const trace: EventData = { by: caller.actor, ...lockTrace(hold) };
    const free = await this.withNothingElseOpen(paymentId, operationId, hold, trace);
    const operation = underReview(free.payment, operationId);
    // Never sent: the verdict is about what the gateway has by now.
    const seen = await find(context.gateway, free.payment, operation);
    const told: EventData = { ...trace, ...gatewayTrace("find", operation, seen) };
    for (let decisions = 0; decisions < MAX_DECISIONS; decisions += 1) {
      const now = context.clock.now();
      const { payment, version } = await this.mustFind(paymentId);
      const dueAt = nextReviewDueAt(now, PENDING_ATTEMPTS, context.random);
      const decided = payment.resolveReview(operationId, verdict, seen, dueAt, stepAt(context, now, told));
      try {
        hold.assertHeld();
        return await context.payments.save(decided, version);
      } catch (error) {
        if (error instanceof DuplicateAuthorizationError) {
          const { authorizationReference: gatewayReference } = error;
          throw new PaymentError("authorization_already_imported", { gatewayReference });
        }
        if (isInDoubt(error)) return lookAgain(error, () => this.written(decided, error));
        if (!(error instanceof VersionConflictError)) throw error;
      }
    }
    throw new PaymentError("payment_busy", { paymentId });
  }

  /** What is stored, if this is a part of it. No two writes share the id of an event. */
  private async written({ id, newEvents }: Payment, doubt: StoreUnavailableError): Promise<StoredPayment> {
    const events = (await this.context.payments.events(id)) ?? [];
    if (!events.some((event) => event.id === newEvents.at(-1)?.id)) throw doubt;
    return this.mustFind(id);
  }

  /** As any request does with what is in its way: asks about it once, and goes on only if that sufficed. */
  private async withNothingElseOpen(
    paymentId: PaymentId,
    operationId: OperationId,
    hold: LockHold,
    trace: EventData,
  ): Promise<StoredPayment> {
    const stored = await this.mustFind(paymentId);
    const open = stored.payment.openOperation;
    const operation = stored.payment.operation(operationId);
    const isToBeDecided = operation !== undefined && isInReview(operation);
    if (!isToBeDecided || open === undefined || open.id === operationId) return stored;
    const { stored: after, by } = await resolveAsFarAsPossible(this.context, stored, open.id, hold, trace);
    const { openOperation } = after.payment;
    const isFree = openOperation === undefined || openOperation.id === operationId;
    // What was sent just now has taken its time: a further question would outlast the budget of those who wait.
    if (by === "resend" || !isFree) throw after.payment.inProgress(open);
    return after;
  }

  private async mustFind(paymentId: PaymentId): Promise<StoredPayment> {
    const stored = await this.context.payments.find(paymentId);
    if (stored === null) throw new Error(`payment ${paymentId} is gone from the store`);
    return stored;
  }
}

/** As the history has it: both sides of a contradiction, or what kept the gateway's answer from being one. */
function whyInReview(
  operation: Operation,
  events: readonly PaymentEvent[],
): { readonly reason: string; readonly since: Date } {
  const own = events.filter(({ data }) => data["operationId"] === operation.id);
  const event = own.findLast(
    ({ type, data }) =>
      type === "operation.evidence_conflict" ||
      (type === "operation.needs_review" && data["reason"] !== TWO_ANSWERS),
  );
  if (event === undefined) return { reason: "nobody knows what became of it", since: operation.createdAt };
  const { data, at: since } = event;
  if (event.type === "operation.needs_review") return { reason: String(data["reason"]), since };
  const said = (data["gateway"] ?? {}) as { readonly reason?: string; readonly evidence?: string };
  const words = said.reason ?? said.evidence;
  const reason =
    `recorded as ${String(data["recorded"])}, and then the gateway answered ${String(data["answer"])}` +
    (words === undefined ? "" : `: ${words}`);
  return { reason, since };
}
