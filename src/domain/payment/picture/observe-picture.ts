import type { GatewayStatement, SettledAnswer } from "../facts";
import { observe } from "./observation";
import { isFinished, isOpen, isRelease, isReopenedByContradiction, type Operation } from "../operation";
import { amountCaptured, amountRefunded, openOperationOf, type Payment } from "../payment";
import { contradicted } from "../record/doubts";
import { after, recorded, type Change } from "../record/recorded";
import { releaseInVain, settle, unappliable, withinItsTime } from "../settlement";
import type { Step } from "../step";
import { needsReview } from "../waiting";
import { withDisputes } from "./disputes";
import type { GatewayPicture } from "./gateway-picture";
import { withMovement } from "./movement-elsewhere";
import { isCaptureOf, isMovementOf, statementOf } from "./statement-of";

/**
 * Writes down where the gateway's picture differs from ours: what became of the operation that is open, what others have
 * done at the gateway, what it took back of that, and disputes. What contradicts an operation of ours goes before a
 * person. The same picture a second time changes nothing.
 */
export function observePicture(payment: Payment, picture: GatewayPicture, step: Step): Payment {
  let next = payment;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const before = next;
    next = parts.reduce((now, part) => part(now, picture, step), before);
    if (next === before) break;
  }
  return next;
}

/** What one part ends can owe something that the picture shows, too: a capture that failed, its release. */
const MOST_ROUNDS = 5;

type Part = (payment: Payment, picture: GatewayPicture, step: Step) => Payment;

/** In this order: what is open decides whether there can have been anybody else. */
const parts: readonly Part[] = [
  withEarlierEnd,
  withOpenSettled,
  withCaptureSeen,
  withCancellationSeen,
  withRefundsSeen,
  withElsewhereTakenBack,
  withDisputes,
];

/** What the gateway lets go of by itself cannot be captured later. */
function withEarlierEnd(payment: Payment, { authorizedUntil }: GatewayPicture, step: Step): Payment {
  const { status, expiresAt: wanted } = payment.facts;
  if (status !== "authorized" || authorizedUntil === null || authorizedUntil >= wanted) return payment;
  const { expiresAt, history } = withinItsTime(wanted, authorizedUntil);
  return recorded(payment, { row: null, status, facts: { expiresAt }, history }, step);
}

function withOpenSettled(payment: Payment, picture: GatewayPicture, step: Step): Payment {
  const open = openOperationOf(payment);
  // Between two answers that contradict each other a third one decides nothing.
  if (open === undefined || isReopenedByContradiction(open)) return payment;
  const seen = statementOf(picture, open);
  switch (seen.outcome) {
    case "absent":
    case "pending":
    case "requires_action":
    case "unknown":
      return payment;
    case "mismatch":
      return withOpenContradicted(payment, open, seen, step);
    default:
      return settleIfPossible(payment, open, seen, step);
  }
}

/**
 * Money that was taken was certainly not let go. Of a capture, a picture that names another one is no answer: a person
 * looks at both sides, and the other one is not counted as long as ours may be the one that counts.
 */
function withOpenContradicted(
  payment: Payment,
  open: Operation,
  { evidence, captured, reference }: Extract<GatewayStatement, { outcome: "mismatch" }>,
  step: Step,
): Payment {
  if (captured === true && isRelease(open)) return releaseInVain(payment, open.id, evidence, step);
  if (captured === true && open.kind === "void") {
    return settle(payment, open.id, { outcome: "declined", reason: evidence }, step);
  }
  if (open.status === "needs_review") return payment;
  return needsReview(payment, open.id, { reason: evidence, gatewayReference: reference }, step);
}

/** An answer that this payment cannot have is kept for a person, as wherever else it is heard. */
export function settleIfPossible(
  payment: Payment,
  open: Operation,
  answer: SettledAnswer,
  step: Step,
): Payment {
  let why: string;
  try {
    const settled = settle(payment, open.id, answer, step);
    if (isPossible(settled)) return settled;
    why = "with it, the payment's totals could not be true";
  } catch (error) {
    why = error instanceof Error ? error.message : String(error);
  }
  return unappliable(payment, open.id, { answer, why }, step);
}

function withCaptureSeen(payment: Payment, picture: GatewayPicture, step: Step): Payment {
  const { captured } = picture;
  if (captured === null) return payment;
  const captures = payment.facts.operations.filter(({ kind }) => kind === "capture");
  const own = captures.find((operation) => isCaptureOf(captured, operation));
  if (own !== undefined) return withOwnSeen(payment, own, picture, step);
  // One of ours may be the one that counts: it was asked about, or is before a person with this.
  if (captures.some(isOpen)) return payment;
  // A person has decided that the money was let go nevertheless.
  if (hasOverriddenVoid(payment, "succeeded", step)) return payment;
  const counted = captures.find(({ status }) => status === "succeeded") ?? voidOf(payment);
  if (counted !== undefined) return observe(payment, counted.id, statementOf(picture, counted), step);
  const { status, amount } = payment.facts;
  const canBe =
    (status === "authorized" || status === "expired") &&
    captured.amount > 0n &&
    captured.amount <= amount.amount;
  // A release that two answers are about, and nothing else, may be open here.
  if (canBe && openOperationOf(payment) === undefined)
    return withMovement(payment, "capture", captured, step);
  return doubted(payment, statementOf(picture, { ...authorizationOf(payment), kind: "capture" }), step);
}

/** What the gateway says of an operation that is not open: an end that agrees, or a contradiction. */
function withOwnSeen(payment: Payment, own: Operation, picture: GatewayPicture, step: Step): Payment {
  if (isOpen(own)) return payment;
  const seen = statementOf(picture, own);
  if (isFinished(own)) return observe(payment, own.id, seen, step);
  // Not sent, as far as this service knew.
  return seen.outcome === "succeeded" ? settle(payment, own.id, seen, step) : payment;
}

function withCancellationSeen(payment: Payment, picture: GatewayPicture, step: Step): Payment {
  const { status, amount } = payment.facts;
  if (status !== "authorized" || openOperationOf(payment) !== undefined) return payment;
  switch (picture.authorization) {
    case "cancelled":
      // A person has decided that it was not.
      if (hasOverriddenVoid(payment, "failed", step)) return payment;
      return withCancellation(payment, { picture, amount: amount.amount }, step);
    case "lapsed": {
      // There is nothing left that a release could let go.
      const reason = "the gateway has let the money go";
      const change: Change = {
        row: null,
        status: after(payment, "authorization.gone"),
        history: [["payment.expired", { reason }]],
      };
      return recorded(payment, change, step);
    }
    default:
      return payment;
  }
}

function withCancellation(
  payment: Payment,
  { picture: { cancellation }, amount }: { readonly picture: GatewayPicture; readonly amount: bigint },
  step: Step,
): Payment {
  const by = cancellation?.by ?? "unnamed";
  const operationId = typeof by === "string" ? null : by.operationId;
  const own = payment.facts.operations.find(({ id }) => id === operationId);
  // By one of ours that was refused, or not sent: both cannot be true.
  if (own !== undefined) {
    return settle(
      payment,
      own.id,
      { outcome: "succeeded", reference: cancellation?.reference ?? null },
      step,
    );
  }
  const reference = cancellation?.reference ?? payment.facts.authorizationReference ?? payment.facts.id;
  return withMovement(payment, "void", { reference, amount, operationId }, step);
}

function withRefundsSeen(payment: Payment, picture: GatewayPicture, step: Step): Payment {
  return picture.refunds.reduce((now, refund) => {
    const refunds = now.facts.operations.filter(({ kind }) => kind === "refund");
    const own = refunds.find((operation) => isMovementOf(refund, operation));
    if (own !== undefined) return own.status === "not_sent" ? withOwnSeen(now, own, picture, step) : now;
    // One that is pending, or failed before anybody counted it, has moved nothing.
    if (refund.state !== "succeeded") return now;
    const left = amountCaptured(now) - amountRefunded(now);
    if (now.facts.status === "captured" && refund.amount > 0n && refund.amount <= left) {
      return withMovement(now, "refund", refund, step);
    }
    const evidence = `${refund.reference}: ${refund.amount} minor units were refunded elsewhere, and ${left} are left`;
    return doubted(now, { outcome: "mismatch", evidence, reference: refund.reference }, step);
  }, payment);
}

/** A movement made elsewhere has no key of ours that could be asked about: only the picture shows what becomes of it. */
function withElsewhereTakenBack(payment: Payment, picture: GatewayPicture, step: Step): Payment {
  const elsewhere = payment.facts.operations.filter(
    (operation) => operation.origin === "gateway" && operation.kind !== "void" && isFinished(operation),
  );
  return elsewhere.reduce((now, { id }) => {
    const operation = now.facts.operations.find((one) => one.id === id);
    return operation === undefined ? now : observe(now, id, statementOf(picture, operation), step);
  }, payment);
}

/** No operation of ours is contradicted by name: the one that everything else hangs on stands for them. */
function doubted(payment: Payment, seen: GatewayStatement, step: Step): Payment {
  const capture = payment.facts.operations.find(
    ({ kind, status }) => kind === "capture" && status === "succeeded",
  );
  const stands = capture ?? authorizationOf(payment);
  const isLeft = stands.conflicted || !isFinished(stands) || step.overridden?.has(stands.id) === true;
  return isLeft ? payment : contradicted(payment, stands, seen, step);
}

function hasOverriddenVoid(
  { facts: { operations } }: Payment,
  as: "succeeded" | "failed",
  { overridden }: Step,
): boolean {
  return operations.some(
    ({ id, kind, status }) => kind === "void" && status === as && overridden?.has(id) === true,
  );
}

function voidOf({ facts }: Payment): Operation | undefined {
  if (facts.status !== "voided") return undefined;
  // One that is doubted already stays the one that is.
  return facts.operations.find(
    (operation) =>
      operation.kind === "void" &&
      !isRelease(operation) &&
      (operation.status === "succeeded" || operation.conflicted),
  );
}

function authorizationOf({ facts }: Payment): Operation {
  const authorization = facts.operations.find(({ kind }) => kind === "authorize");
  if (authorization === undefined) throw new Error(`payment ${facts.id} has no authorization`);
  return authorization;
}

/** What every store would refuse. */
function isPossible(payment: Payment): boolean {
  const captures = payment.facts.operations.filter(
    ({ kind, status }) => kind === "capture" && status === "succeeded",
  );
  return (
    captures.length <= 1 &&
    amountCaptured(payment) <= payment.facts.amount.amount &&
    amountRefunded(payment) <= amountCaptured(payment)
  );
}
