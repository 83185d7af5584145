import type { OperationId, PaymentId } from "../../domain/identifiers";
import { gatewayKey, isInReview, type Operation } from "../../domain/payment/operation";
import { inProgress, openOperationOf, operationOf, type Payment } from "../../domain/payment/payment";
import { PaymentError } from "../../domain/payment/errors";
import { TWO_ANSWERS, type EventData, type PaymentEvent } from "../../domain/payment/events";
import type { GatewayStatement, ReviewVerdict } from "../../domain/payment/facts";
import type { GatewayPicture } from "../../domain/payment/picture/gateway-picture";
import { resolveReview, underReview } from "../../domain/payment/review";
import type { Act } from "../audit/act";
import { verdictEntry } from "../audit/verdict-entry";
import type { OperatorCaller } from "../operations/caller";
import { retryOnConflict } from "../operations/retry-on-conflict";
import { applyPicture } from "../observation/apply-picture";
import { strongest } from "../observation/strongest-statement";
import { overriddenIn } from "../observation/overridden";
import { askPicture, find, gatewayTrace } from "../operations/ask-gateway";
import { isInDoubt, lookAgain } from "../operations/in-doubt";
import { stepNow, underLock, type OperationContext, type UnderLock } from "../operations/operation-context";
import { withPaymentLock } from "../operations/payment-lock";
import { findOrResendIfPossible } from "../operations/find-or-resend";
import type { LockProvider } from "../ports/lock-provider";
import {
  DuplicateAuthorizationError,
  type Page,
  type ReviewItem,
  type ReviewQuery,
  type StoredPayment,
  type StoreUnavailableError,
} from "../ports/payment-repository";

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

/** What a verdict has made of an operation and its payment. */
export interface Reviewed {
  readonly payment: Payment;
  readonly operation: Operation;
}

interface VerdictGiven {
  readonly verdict: ReviewVerdict;
  /** What the gateway said about the operation just now. */
  readonly seen: GatewayStatement;
  readonly operationId: OperationId;
  readonly told: EventData;
}

/** One operation's way into review, and what became of it. */
export interface ReviewHistory extends Reviewed {
  readonly events: readonly PaymentEvent[];
}

/** What only a person can decide: operations whose outcome the gateway never told, or told in two ways. */
export class ReviewOperations {
  constructor(
    private readonly locks: LockProvider,
    private readonly operations: OperationContext,
  ) {}

  async list({ limit, cursor }: ReviewQuery): Promise<Page<ReviewCase>> {
    const { payments } = this.operations;
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

  count(): Promise<number> {
    return this.operations.payments.countInReview();
  }

  /** Whoever's payment it is, and also when it has been decided. */
  async one(operationId: OperationId): Promise<ReviewHistory> {
    const { payments } = this.operations;
    const paymentId = await this.paymentOf(operationId);
    const [stored, events] = await Promise.all([payments.find(paymentId), payments.events(paymentId)]);
    const operation = stored === null ? undefined : operationOf(stored.payment, operationId);
    if (stored === null || operation === undefined) {
      throw new PaymentError("operation_not_found", { operationId });
    }
    const own = (events ?? []).filter(({ data }) => data["operationId"] === operationId);
    return { payment: stored.payment, operation, events: own };
  }

  /** What the gateway says about it at this moment. Moves nothing, and writes nothing down. */
  async gatewaySays({ payment, operation }: Reviewed): Promise<GatewayStatement> {
    const { gateway } = this.operations;
    const [found, picture] = await Promise.all([
      find(gateway, payment, operation),
      askPicture(gateway, payment),
    ]);
    return strongest(found, picture, operation);
  }

  /**
   * Writes down the person's verdict, after the gateway was asked once more. The caller is an operator: whose payment it
   * is does not matter.
   */
  async resolve(
    operationId: OperationId,
    verdict: ReviewVerdict,
    caller: OperatorCaller,
    act: Act,
  ): Promise<Reviewed> {
    const paymentId = await this.paymentOf(operationId);
    const { payment } = await withPaymentLock(this.locks, { paymentId, purpose: "review", caller }, (hold) =>
      this.decide(underLock(this.operations, hold, caller.actor), paymentId, operationId, verdict, act),
    );
    const operation = operationOf(payment, operationId);
    if (operation === undefined) throw new PaymentError("operation_not_found", { operationId });
    return { payment, operation };
  }

  private async paymentOf(operationId: OperationId): Promise<PaymentId> {
    const paymentId = await this.operations.payments.findByOperation(operationId);
    if (paymentId === null) throw new PaymentError("operation_not_found", { operationId });
    return paymentId;
  }

  /** Null if it was decided since the list was read. */
  private async caseOf(item: ReviewItem): Promise<ReviewCase | null> {
    const { payments } = this.operations;
    const [stored, events] = await Promise.all([
      payments.find(item.paymentId),
      payments.events(item.paymentId),
    ]);
    const operation = stored === null ? undefined : operationOf(stored.payment, item.operationId);
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
    work: UnderLock,
    paymentId: PaymentId,
    operationId: OperationId,
    verdict: ReviewVerdict,
    act: Act,
  ): Promise<StoredPayment> {
    const { context, hold, trace } = work;
    const free = await this.withNothingElseOpen(work, paymentId, operationId);
    const operation = underReview(free.payment, operationId);
    // Never sent: the verdict is about what the gateway has by now.
    const [found, picture] = await Promise.all([
      find(context.gateway, free.payment, operation),
      askPicture(context.gateway, free.payment),
    ]);
    const seen = strongest(found, picture, operation);
    const told: EventData = { ...trace, ...gatewayTrace("find", operation, found) };
    return retryOnConflict(paymentId, async () => {
      const { payment, version } = await this.mustFind(paymentId);
      const isPictured = picture !== null && version === free.version && verdict.outcome !== "pending";
      const given = { verdict, seen, operationId, told };
      const decided = await this.decided(work, payment, given, isPictured ? picture : null);
      try {
        hold.assertHeld();
        return await context.payments.save(decided, version, verdictEntry(act, payment, given, context));
      } catch (error) {
        if (error instanceof DuplicateAuthorizationError) {
          const { authorizationReference: gatewayReference } = error;
          throw new PaymentError("authorization_already_imported", { gatewayReference });
        }
        if (isInDoubt(error)) return lookAgain(error, () => this.written(decided, error));
        throw error;
      }
    });
  }

  /**
   * What others did is counted as soon as no operation of ours is in doubt. Not against a person who insists, and not if the
   * payment has gone on since the picture was drawn.
   */
  private async decided(
    work: UnderLock,
    payment: Payment,
    { verdict, seen, operationId, told }: VerdictGiven,
    picture: GatewayPicture | null,
  ): Promise<Payment> {
    const resolved = (isDoubted: boolean) =>
      resolveReview(payment, operationId, { verdict, seen, isDoubted }, stepNow(work.context, told));
    const asGiven = resolved(false);
    if (picture === null) return asGiven;
    const pictured = await this.withPicture(work, asGiven, picture);
    const operation = operationOf(pictured, operationId);
    const isDoubted = operation !== undefined && isInReview(operation);
    if ((verdict.overrideReason ?? null) !== null) return isDoubted ? resolved(true) : asGiven;
    // A verdict that would be in review again at once is no decision.
    if (isDoubted) throw contradiction(pictured, operationId, verdict);
    return pictured;
  }

  private async withPicture(
    { context, trace }: UnderLock,
    payment: Payment,
    picture: GatewayPicture,
  ): Promise<Payment> {
    const overridden = await overriddenIn(context.payments, payment);
    return applyPicture(context, payment, picture, { trace, overridden });
  }

  /** What is stored, if this is a part of it. No two writes share the id of an event. */
  private async written(
    { facts: { id }, newEvents }: Payment,
    doubt: StoreUnavailableError,
  ): Promise<StoredPayment> {
    const events = (await this.operations.payments.events(id)) ?? [];
    if (!events.some((event) => event.id === newEvents.at(-1)?.id)) throw doubt;
    return this.mustFind(id);
  }

  /** As any request does with what is in its way: asks about it once, and goes on only if that sufficed. */
  private async withNothingElseOpen(
    work: UnderLock,
    paymentId: PaymentId,
    operationId: OperationId,
  ): Promise<StoredPayment> {
    const stored = await this.mustFind(paymentId);
    const open = openOperationOf(stored.payment);
    const operation = operationOf(stored.payment, operationId);
    const isToBeDecided = operation !== undefined && isInReview(operation);
    if (!isToBeDecided || open === undefined || open.id === operationId) return stored;
    const { stored: after, by } = await findOrResendIfPossible(work, stored, open.id);
    const stillOpen = openOperationOf(after.payment);
    const isFree = stillOpen === undefined || stillOpen.id === operationId;
    // What was sent just now has taken its time: a further question would outlast the budget of those who wait.
    if (by === "resend" || !isFree)
      throw inProgress(after.payment, operationOf(after.payment, open.id) ?? open);
    return after;
  }

  private async mustFind(paymentId: PaymentId): Promise<StoredPayment> {
    const stored = await this.operations.payments.find(paymentId);
    if (stored === null) throw new Error(`payment ${paymentId} is gone from the store`);
    return stored;
  }
}

/** The gateway's side, as the doubt that the payment would have been left with has it. */
function contradiction({ newEvents }: Payment, operationId: OperationId, { outcome }: ReviewVerdict) {
  const doubt = newEvents.findLast(({ data }) => data["operationId"] === operationId && "answer" in data);
  const { answer = "mismatch", evidence } = doubt?.data ?? {};
  const gateway = { answer: String(answer), ...(evidence === undefined ? {} : { evidence }) };
  return new PaymentError("review_contradicts_gateway", { operationId, outcome, gateway });
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
  if (event === undefined) return { reason: "its outcome is not known", since: operation.createdAt };
  const { data, at: since } = event;
  if (event.type === "operation.needs_review") return { reason: String(data["reason"]), since };
  const said = (data["gateway"] ?? {}) as { readonly reason?: string; readonly evidence?: string };
  const words = said.reason ?? said.evidence ?? (data["evidence"] as string | undefined);
  const reason =
    `recorded as ${String(data["recorded"])}, and then the gateway answered ${String(data["answer"])}` +
    (words === undefined ? "" : `: ${words}`);
  return { reason, since };
}
