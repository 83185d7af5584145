import type { OperationId, PaymentId } from "../../domain/identifiers";
import type { GatewayStatement } from "../../domain/payment/facts";
import {
  isFinished,
  isInReview,
  isOpen,
  isRelease,
  isReopenedByContradiction,
  type Operation,
} from "../../domain/payment/operation";
import { openOperationOf, operationOf, type Payment } from "../../domain/payment/payment";
import { PaymentError } from "../../domain/payment/errors";
import { compare, observe } from "../../domain/payment/observation";
import type { GatewayPicture } from "../../domain/payment/picture/gateway-picture";
import { settleIfPossible } from "../../domain/payment/picture/observe-picture";
import { isMovementOf, statementOf } from "../../domain/payment/picture/statement-of";
import { applyPicture, type Observing } from "../observation/apply-picture";
import { overriddenIn } from "../observation/overridden";
import { askPicture, find, gatewayTrace } from "../operations/ask-gateway";
import { isRecorded } from "../operations/ask-in-review";
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
 * Why the gateway was not asked about an operation: it is asked as long as it is open anyway, it was never sent, it has no
 * key of ours (others made it, and only the picture shows it), or there were too many.
 */
export type NotAsked = "open" | "not_sent" | "made_elsewhere" | "too_many";

/**
 * What came of asking. `settled`: it was open, and is not any more. `inconclusive`: what the gateway says neither confirms
 * nor contradicts what is stored.
 */
export type ObservationResult = "agrees" | "inconclusive" | "settled" | "corrected" | "in_review";

export type Observation = { readonly operation: Operation } & (
  | { readonly notAsked: NotAsked }
  /** `operation` is as it was stored when the gateway was asked. */
  | { readonly seen: GatewayStatement; readonly result: ObservationResult }
);

export interface ObservedPayment {
  readonly payment: Payment;
  /** Each operation, in the order in which they began; movements that others made come last. */
  readonly observations: readonly Observation[];
  /** False where the gateway was asked how it sees the payment, and gave no answer. */
  readonly isPictured: boolean;
  /** The last operation that was asked about, if there are more: ask for what comes after it. */
  readonly next: OperationId | null;
}

interface Answered {
  readonly operation: Operation;
  readonly seen: FindAnswer;
}

/**
 * Compares the gateway's view of a payment with ours, and writes down in one transaction what differs: what became of the
 * operation that is open, what the gateway takes back, what others have done there, disputes. Nothing is ever sent.
 */
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
    const { payment: before } = await this.mustFind(paymentId);
    const { gateway } = this.operations;
    const { asked, next } = questions(before, after, gateway.picture !== undefined);
    const [answers, picture] = await Promise.all([this.ask(before, asked), askPicture(gateway, before)]);
    const isToBePictured = gateway.picture !== undefined && before.facts.authorizationReference !== null;
    const seen: Seen = { answers, picture, isPictured: picture !== null || !isToBePictured };
    const isNews = (overridden: ReadonlySet<OperationId>) =>
      this.compared(before, seen, { trace: {}, overridden }) !== before;
    // The history is read only where there would be something to write.
    if (!isNews(new Set()) || !isNews(await overriddenIn(this.operations.payments, before))) {
      return report(before, before, seen, next);
    }
    const written = await withPaymentLock(this.locks, { paymentId, purpose: "observe", caller }, (hold) =>
      this.write(underLock(this.operations, hold, caller.actor), paymentId, answers),
    );
    const { picture: shown } = written;
    const isPictured = shown !== null || !isToBePictured;
    return report(before, written.payment, { answers, picture: shown, isPictured }, next);
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

  /**
   * Answers are applied to the operations as they are now: the payment may have gone on while the gateway answered. A
   * picture shows everything as it was at one time, so it is asked for anew, after the payment was read, and written only
   * if nobody has written the payment since.
   */
  private write(
    { context, hold, trace }: UnderLock,
    paymentId: PaymentId,
    answers: readonly Answered[],
  ): Promise<{ readonly payment: Payment; readonly picture: GatewayPicture | null }> {
    return retryOnConflict(paymentId, async () => {
      const { payment, version } = await this.mustFind(paymentId);
      const picture = await askPicture(context.gateway, payment);
      const overridden = await overriddenIn(context.payments, payment);
      const next = this.compared(payment, { answers, picture }, { trace, overridden });
      if (next === payment) return { payment, picture };
      hold.assertHeld();
      return { payment: (await context.payments.save(next, version)).payment, picture };
    });
  }

  /** The payment with what was seen; the very same one if that is no news. */
  private compared(
    payment: Payment,
    { answers, picture }: Pick<Seen, "answers" | "picture">,
    { trace, overridden }: Observing,
  ): Payment {
    const { operations: context } = this;
    const take = (now: Payment, { operation, seen }: Answered): Payment => {
      const told = { ...trace, ...gatewayTrace("find", operation, seen) };
      const step = { ...stepNow(context, told), overridden };
      const current = operationOf(now, operation.id);
      if (current === undefined || !isOpen(current)) return observe(now, operation.id, seen, step);
      return isRecorded(seen) && !isReopenedByContradiction(current)
        ? settleIfPossible(now, current, seen, step)
        : now;
    };
    const answered = answers.filter((one) => !isAnotherWordFor(one, picture));
    const movements = answered.filter(({ operation }) => isMovement(operation)).reduce(take, payment);
    if (context.gateway.picture === undefined || payment.facts.authorizationReference === null) {
      return answered.filter(({ operation }) => !isMovement(operation)).reduce(take, movements);
    }
    // What is known of an authorization and of voids is its state alone: without the picture nobody knows whose doing it is.
    if (picture === null) return movements;
    const pictured = applyPicture(context, movements, picture, { trace, overridden });
    return answered.filter(({ operation }) => !isMovement(operation)).reduce(take, pictured);
  }

  private async mustFind(paymentId: PaymentId): Promise<StoredPayment> {
    const stored = await this.operations.payments.find(paymentId);
    if (stored === null) throw new PaymentError("payment_not_found", { paymentId });
    return stored;
  }
}

/** What an observation goes by. */
interface Seen {
  readonly answers: readonly Answered[];
  readonly picture: GatewayPicture | null;
  readonly isPictured: boolean;
}

function isMovement({ kind }: Operation): boolean {
  return kind === "capture" || kind === "refund";
}

/** A person has said that it is this capture, which carries no id of ours: that its key is not found contradicts nothing. */
function isAnotherWordFor({ operation, seen }: Answered, picture: GatewayPicture | null): boolean {
  const captured = picture?.captured ?? null;
  return (
    seen.outcome === "mismatch" &&
    operation.kind === "capture" &&
    captured !== null &&
    captured.amount === operation.amount &&
    isMovementOf(captured, operation)
  );
}

/** Refunds that succeeded come first, the latest before the others: they are what fails afterwards. */
function questions(
  payment: Payment,
  after: OperationId | null,
  hasPictures: boolean,
): { readonly asked: readonly Operation[]; readonly next: OperationId | null } {
  const isPictured = hasPictures && payment.facts.authorizationReference !== null;
  const wanted = payment.facts.operations
    .filter((operation) => whyNot(operation) === null && !(isOpen(operation) && isPictured))
    .reverse();
  const canFail = ({ kind, status }: Operation) => kind === "refund" && status === "succeeded";
  const inOrder = [...wanted.filter(canFail), ...wanted.filter((one) => !canFail(one))];
  const rest = inOrder.slice(inOrder.findIndex(({ id }) => id === after) + 1);
  const asked = rest.slice(0, MAX_QUESTIONS);
  return { asked, next: rest.length > asked.length ? (asked.at(-1)?.id ?? null) : null };
}

function whyNot(operation: Operation): Exclude<NotAsked, "too_many"> | null {
  if (operation.origin === "gateway") return "made_elsewhere";
  // Its keys change, and only who sends them knows which of them an answer is about.
  if (isOpen(operation)) return isRelease(operation) || isReopenedByContradiction(operation) ? "open" : null;
  if (!isFinished(operation)) return "not_sent";
  return operation.firstSentAt === null ? "made_elsewhere" : null;
}

function report(
  before: Payment,
  after: Payment,
  { answers, picture, isPictured }: Seen,
  next: OperationId | null,
): ObservedPayment {
  const byId = new Map(answers.map((answer) => [answer.operation.id, answer.seen as GatewayStatement]));
  const open = openOperationOf(before);
  if (open !== undefined && picture !== null) byId.set(open.id, statementOf(picture, open));
  const observations = after.facts.operations.map((now): Observation => {
    const operation = operationOf(before, now.id) ?? now;
    const seen = byId.get(operation.id);
    if (seen !== undefined) return { operation, seen, result: resultOf(after, operation, seen) };
    const isTooMany = !isOpen(operation) && whyNot(operation) === null;
    return { operation, notAsked: isTooMany ? "too_many" : (whyNot(operation) ?? "open") };
  });
  return { payment: after, observations, isPictured, next };
}

function resultOf(after: Payment, operation: Operation, seen: GatewayStatement): ObservationResult {
  const now = operationOf(after, operation.id) ?? operation;
  if (isInReview(now)) return "in_review";
  if (isOpen(operation)) return isOpen(now) ? "inconclusive" : "settled";
  if (now.correctedSequence !== operation.correctedSequence) return "corrected";
  return compare(after, now, seen) === "agrees" ? "agrees" : "inconclusive";
}
