import type { OperationId, PaymentId } from "../../domain/identifiers";
import { isFinished, isInReview, isOpen, type Operation } from "../../domain/payment/operation";
import { operationOf, type Payment } from "../../domain/payment/payment";
import { PaymentError } from "../../domain/payment/errors";
import { compare, observe } from "../../domain/payment/observation";
import { find, gatewayTrace } from "../operations/ask-gateway";
import type { OperatorCaller } from "../operations/caller";
import { retryOnConflict } from "../operations/retry-on-conflict";
import { stepNow, underLock, type OperationContext, type UnderLock } from "../operations/operation-context";
import { withPaymentLock } from "../operations/payment-lock";
import type { LockProvider } from "../ports/lock-provider";
import type { FindAnswer } from "../ports/payment-gateway";
import type { StoredPayment } from "../ports/payment-repository";

/** Six rounds of questions, each within its budget, leave time for the lock in one HTTP request. */
const MAX_QUESTIONS = 48;
const QUESTIONS_AT_ONCE = 8;

/**
 * Why the gateway was not asked about an operation: it is asked as long as it is open anyway, it was never sent, there was
 * nothing of ours to send, or there were too many.
 */
export type NotAsked = "open" | "not_sent" | "made_elsewhere" | "too_many";

/** What came of asking. `inconclusive`: what the gateway says neither confirms nor contradicts what is stored. */
export type ObservationResult = "agrees" | "inconclusive" | "corrected" | "in_review";

export type Observation = { readonly operation: Operation } & (
  | { readonly notAsked: NotAsked }
  /** `operation` is as it was stored when the gateway was asked. */
  | { readonly seen: FindAnswer; readonly result: ObservationResult }
);

export interface ObservedPayment {
  readonly payment: Payment;
  /** Each operation, in the order in which they began. */
  readonly observations: readonly Observation[];
  /** The last operation that was asked about, if there are more: ask for what comes after it. */
  readonly next: OperationId | null;
}

interface Answered {
  readonly operation: Operation;
  readonly seen: FindAnswer;
}

/** Asks the gateway again about what has ended, and writes down what it takes back. Nothing is ever sent. */
export class ObservePayment {
  constructor(
    private readonly locks: LockProvider,
    private readonly operations: OperationContext,
  ) {}

  /**
   * The caller is an operator: whose payment it is does not matter. `after`: begins behind this operation, in the order in
   * which they are asked about, where one request was not enough for all of them.
   */
  async execute(
    paymentId: PaymentId,
    caller: OperatorCaller,
    after: OperationId | null = null,
  ): Promise<ObservedPayment> {
    const before = await this.mustFind(paymentId);
    const { asked, next } = questions(before.payment, after);
    const answers = await this.ask(before.payment, asked);
    if (!isNews(before.payment, answers)) return report(before.payment, before.payment, answers, next);
    const { payment } = await withPaymentLock(this.locks, { paymentId, purpose: "observe", caller }, (hold) =>
      this.write(underLock(this.operations, hold, caller.actor), paymentId, answers),
    );
    return report(before.payment, payment, answers, next);
  }

  /** Outside of the lock: nobody has to wait for as many answers. */
  private async ask(payment: Payment, asked: readonly Operation[]): Promise<readonly Answered[]> {
    const waiting = [...asked];
    const answers: Answered[] = [];
    const askInTurn = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        answers.push({ operation: next, seen: await find(this.operations.gateway, payment, next) });
      }
    };
    await Promise.all(Array.from({ length: QUESTIONS_AT_ONCE }, askInTurn));
    return answers;
  }

  /** To the operations as they are now: the payment may have gone on while the gateway answered. */
  private write(
    { context, hold, trace }: UnderLock,
    paymentId: PaymentId,
    answers: readonly Answered[],
  ): Promise<StoredPayment> {
    return retryOnConflict(paymentId, async () => {
      const stored = await this.mustFind(paymentId);
      const step = stepNow(context, trace);
      const next = answers.reduce((payment, { operation, seen }) => {
        const asked = { ...trace, ...gatewayTrace("find", operation, seen) };
        return observe(payment, operation.id, seen, { ...step, trace: asked });
      }, stored.payment);
      if (next === stored.payment) return stored;
      hold.assertHeld();
      return context.payments.save(next, stored.version);
    });
  }

  private async mustFind(paymentId: PaymentId): Promise<StoredPayment> {
    const stored = await this.operations.payments.find(paymentId);
    if (stored === null) throw new PaymentError("payment_not_found", { paymentId });
    return stored;
  }
}

/** Refunds that succeeded come first, the latest before the others: they are what fails afterwards. */
function questions(
  payment: Payment,
  after: OperationId | null,
): { readonly asked: readonly Operation[]; readonly next: OperationId | null } {
  const wanted = payment.facts.operations.filter((operation) => whyNot(operation) === null).reverse();
  const canFail = ({ kind, status }: Operation) => kind === "refund" && status === "succeeded";
  const inOrder = [...wanted.filter(canFail), ...wanted.filter((one) => !canFail(one))];
  const rest = inOrder.slice(inOrder.findIndex(({ id }) => id === after) + 1);
  const asked = rest.slice(0, MAX_QUESTIONS);
  return { asked, next: rest.length > asked.length ? (asked.at(-1)?.id ?? null) : null };
}

function whyNot(operation: Operation): Exclude<NotAsked, "too_many"> | null {
  if (isOpen(operation)) return "open";
  if (!isFinished(operation)) return "not_sent";
  return operation.firstSentAt === null ? "made_elsewhere" : null;
}

function isNews(payment: Payment, answers: readonly Answered[]): boolean {
  return answers.some(({ operation, seen }) => {
    const comparison = compare(payment, operation, seen);
    return !operation.conflicted && (comparison === "failed_later" || comparison === "contradicts");
  });
}

function report(
  before: Payment,
  after: Payment,
  answers: readonly Answered[],
  next: OperationId | null,
): ObservedPayment {
  const byId = new Map(answers.map((answer) => [answer.operation.id, answer]));
  const observations = before.facts.operations.map((operation): Observation => {
    const seen = byId.get(operation.id)?.seen;
    if (seen === undefined) return { operation, notAsked: whyNot(operation) ?? "too_many" };
    return { operation, seen, result: resultOf(after, operation, seen) };
  });
  return { payment: after, observations, next };
}

function resultOf(after: Payment, operation: Operation, seen: FindAnswer): ObservationResult {
  const now = operationOf(after, operation.id) ?? operation;
  if (isInReview(now)) return "in_review";
  if (now.correctedSequence !== operation.correctedSequence) return "corrected";
  return compare(after, now, seen) === "agrees" ? "agrees" : "inconclusive";
}
