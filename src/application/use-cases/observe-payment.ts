import type { OperationId, PaymentId } from "../../domain/identifiers";
import type { CustomerAction, GatewayStatement } from "../../domain/payment/facts";
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
import { compare, observe } from "../../domain/payment/picture/observation";
import type { GatewayPicture } from "../../domain/payment/picture/gateway-picture";
import { settleIfPossible } from "../../domain/payment/picture/observe-picture";
import { isMovementOf, statementOf } from "../../domain/payment/picture/statement-of";
import { applyPicture, type Observing } from "../observation/apply-picture";
import { overriddenIn } from "../observation/overridden";
import { applyVerdict } from "../../domain/payment/settlement";
import type { Step } from "../../domain/payment/step";
import { askForPicture, find, gatewayTrace } from "../operations/ask-gateway";
import { isRecorded } from "../operations/ask-in-review";
import type { OperatorCaller } from "../operations/caller";
import { retryOnConflict } from "../operations/retry-on-conflict";
import { stepNow, underLock, type OperationContext, type UnderLock } from "../operations/operation-context";
import { withPaymentLock } from "../operations/payment-lock";
import type { LockProvider } from "../ports/lock-provider";
import type { FindAnswer, PictureAnswer } from "../ports/payment-gateway";
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
  /** What it said of itself when it was asked how it sees the payment; null where there was nothing to ask. */
  readonly picture: PictureStatement | null;
  /** The last operation that was asked about, if there are more: ask for what comes after it. */
  readonly next: OperationId | null;
}

export type PictureStatement =
  { readonly outcome: "seen" } | { readonly outcome: "unknown"; readonly reason: string };

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
    const [answers, shown] = await Promise.all([this.ask(before, asked), askForPicture(gateway, before)]);
    const seen = seenAs(await this.withUnseen(before, answers, shown), shown);
    const isNews = (overridden: ReadonlySet<OperationId>) =>
      this.compared(before, seen, { trace: {}, overridden }) !== before;
    // The history is read only where there would be something to write.
    if (!isNews(new Set()) || !isNews(await overriddenIn(this.operations.payments, before))) {
      return report(before, before, seen, next);
    }
    const written = await withPaymentLock(this.locks, { paymentId, purpose: "observe", caller }, (hold) =>
      this.write(underLock(this.operations, hold, caller.actor), paymentId, seen.answers),
    );
    return report(before, written.payment, written.seen, next);
  }

  /** What only the picture would have shown is asked about by its key where there is no picture after all. */
  private async withUnseen(
    payment: Payment,
    answers: readonly Answered[],
    shown: PictureAnswer | null,
  ): Promise<readonly Answered[]> {
    if (shown?.outcome !== "unknown") return answers;
    const isAnswered = ({ id }: Operation) => answers.some(({ operation }) => operation.id === id);
    const isUnseen = (one: Operation) => isShownOpen(one) && whyNot(one) === null && !isAnswered(one);
    return [...answers, ...(await this.ask(payment, payment.facts.operations.filter(isUnseen)))];
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
  ): Promise<{ readonly payment: Payment; readonly seen: Seen }> {
    return retryOnConflict(paymentId, async () => {
      const { payment, version } = await this.mustFind(paymentId);
      const shown = await askForPicture(context.gateway, payment);
      const seen = seenAs(await this.withUnseen(payment, answers, shown), shown);
      const overridden = await overriddenIn(context.payments, payment);
      const next = this.compared(payment, seen, { trace, overridden });
      if (next === payment) return { payment, seen };
      hold.assertHeld();
      return { payment: (await context.payments.save(next, version)).payment, seen };
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
      if (seen.outcome === "requires_action") return withCustomerSent(now, current, seen, step);
      return isRecorded(seen) && !isReopenedByContradiction(current)
        ? settleIfPossible(now, current, seen, step)
        : now;
    };
    const answered = answers.filter((one) => !isAnotherWordFor(one, picture));
    const movements = answered.filter(({ operation }) => speaksForItself(operation)).reduce(take, payment);
    if (context.gateway.picture === undefined || payment.facts.authorizationReference === null) {
      return answered.filter(({ operation }) => !speaksForItself(operation)).reduce(take, movements);
    }
    // What is known of a former authorization and of voids is its state alone: without the picture nobody knows whose doing
    // it is. Of an open void, the answer about its key counts, as it does whenever the key is asked about.
    if (picture === null) {
      const open = openOperationOf(movements);
      const isOpenVoid = ({ id, kind }: Operation) => id === open?.id && kind === "void";
      return answered.filter(({ operation }) => isOpenVoid(operation)).reduce(take, movements);
    }
    const pictured = applyPicture(context, movements, picture, { trace, overridden });
    return answered.filter(({ operation }) => !speaksForItself(operation)).reduce(take, pictured);
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
  readonly statement: PictureStatement | null;
}

function seenAs(answers: readonly Answered[], shown: PictureAnswer | null): Seen {
  if (shown?.outcome !== "seen") return { answers, picture: null, statement: shown };
  return { answers, picture: shown.picture, statement: { outcome: "seen" } };
}

/** What the gateway keeps for its key is its own doing, whatever else has been done with the payment. */
function speaksForItself(operation: Operation): boolean {
  const { kind } = operation;
  return kind === "capture" || kind === "refund" || (kind === "authorize" && isOpen(operation));
}

/** Where the customer has to act is news only to an operation whose own answer was lost. */
function withCustomerSent(
  payment: Payment,
  { id, status }: Operation,
  action: CustomerAction,
  step: Step,
): Payment {
  const isNews = status === "started" || status === "unknown";
  return isNews ? applyVerdict(payment, id, action, step) : payment;
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
    .filter((operation) => whyNot(operation) === null && !(isShownOpen(operation) && isPictured))
    .reverse();
  const canFail = ({ kind, status }: Operation) => kind === "refund" && status === "succeeded";
  const inOrder = [...wanted.filter(canFail), ...wanted.filter((one) => !canFail(one))];
  const rest = inOrder.slice(inOrder.findIndex(({ id }) => id === after) + 1);
  const asked = rest.slice(0, MAX_QUESTIONS);
  return { asked, next: rest.length > asked.length ? (asked.at(-1)?.id ?? null) : null };
}

/** Of an open operation, the picture shows as much as its key would; but not what became of an authorization. */
function isShownOpen(operation: Operation): boolean {
  return isOpen(operation) && operation.kind !== "authorize";
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
  { answers, picture, statement }: Seen,
  next: OperationId | null,
): ObservedPayment {
  const byId = new Map(answers.map((answer) => [answer.operation.id, answer.seen as GatewayStatement]));
  if (picture !== null) {
    const open = openOperationOf(before);
    if (open !== undefined && isShownOpen(open)) byId.set(open.id, statementOf(picture, open));
    // What the picture has just contradicted has no answer of its own, and a person has to hear of it at once.
    const unheard = after.facts.operations.filter(({ id, kind }) => kind !== "authorize" && !byId.has(id));
    for (const one of unheard.filter(isInReview)) byId.set(one.id, statementOf(picture, one));
  }
  const observations = after.facts.operations.map((now): Observation => {
    const operation = operationOf(before, now.id) ?? now;
    const seen = byId.get(operation.id);
    if (seen !== undefined) return { operation, seen, result: resultOf(after, operation, seen) };
    const isTooMany = !isOpen(operation) && whyNot(operation) === null;
    return { operation, notAsked: isTooMany ? "too_many" : (whyNot(operation) ?? "open") };
  });
  const isPictured = statement === null || statement.outcome === "seen";
  return { payment: after, observations, isPictured, picture: statement, next };
}

function resultOf(after: Payment, operation: Operation, seen: GatewayStatement): ObservationResult {
  const now = operationOf(after, operation.id) ?? operation;
  if (isInReview(now)) return "in_review";
  if (isOpen(operation)) return isOpen(now) ? "inconclusive" : "settled";
  if (now.correctedSequence !== operation.correctedSequence) return "corrected";
  return compare(after, now, seen) === "agrees" ? "agrees" : "inconclusive";
}
