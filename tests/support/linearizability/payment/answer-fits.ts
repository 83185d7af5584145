import type { HttpAnswer } from "../history/http-call";
import { idIn, type Kind, type Movement, type PaymentCall, type Verdict } from "./payment-call";
import { isRefusedImport } from "./imports";
import { objection } from "./objection";
import { left, operationName, shown, type Operation, type PaymentState, type Shown } from "./payment-state";

/** They say that the request did nothing, and nothing about the payment. */
const SAY_NOTHING = new Set([
  "request_timeout",
  "lock_timeout",
  "lock_unavailable",
  "lock_lost",
  "payment_busy",
  "service_unavailable",
  "capture_not_begun",
]);

/** Whether an answer, taken for itself, is what the tables of docs/payments.md give where the payment is now. */
export function answerFits(state: PaymentState, { http, asks }: PaymentCall, id: string | null): boolean {
  const answer = http.answer!;
  if (SAY_NOTHING.has(answer.body?.code)) return true;
  if (answer.body?.code === "payment_not_found") return answer.status === 404 && state.status === "none";
  const told = idIn(answer.body);
  if (told !== null && id !== null && told !== id) return false;
  switch (asks.for) {
    case "payment":
      return answer.status === 200 && isShown(state, answer.body.payment);
    case "verdict":
      return verdictFits(state, asks, answer);
    case "moves":
      return answer.status === 200 && haveMoved(state, answer.body.moves);
    case "movement":
      return movementFits(state, asks, answer);
  }
}

/** A refused verdict changes nothing; whether it had to be refused is not judged. */
function verdictFits(state: PaymentState, { kind, outcome }: Verdict, { status, body }: HttpAnswer): boolean {
  if (status !== 200) return status === 409 || status === 422;
  const told = outcome === "pending" ? null : outcome === "moved" ? "succeeded" : "failed";
  const isAsDecided = body.operation.kind === kind && (told === null || body.operation.status === told);
  return isAsDecided && isShown(state, body.payment);
}

function movementFits(state: PaymentState, movement: Movement, { status, body }: HttpAnswer): boolean {
  const { kind, key, content, imports } = movement;
  const known = state.operations.get(operationName(kind, key));
  if (body.code === "idempotency_key_in_use") return status === 409 && known !== undefined;
  if (known !== undefined && known.content !== content)
    return status === 422 && body.code === "idempotency_key_reused";
  if (known !== undefined && known.is !== "not sent") return keyFits(state, known, { status, body });
  // What it was that the gateway said of an authorization that is not ours is not judged.
  if (imports !== null && isRefusedImport({ status, body })) return known === undefined;
  if (body.code === "gateway_unavailable") return status === 503 && known !== undefined;
  if (state.open !== null)
    return status === 409 && body.code === `${state.operations.get(state.open)!.kind}_in_progress`;
  const code = objection(state, movement, known);
  if (code === null || body.code !== code) return false;
  if (code === "amount_exceeds_captured") return status === 422 && body.maxAmount === left(state);
  return status === (/^(amount|currency)_/.test(code) ? 422 : 409);
}

/** What a key that has begun an operation is told. */
function keyFits(state: PaymentState, operation: Operation, { status, body }: HttpAnswer): boolean {
  const { kind, is, told } = operation;
  switch (is) {
    case "open":
      return (
        status === 202 && hasTotals(body.payment, shown(state)) && showsOperation(body, operation, "unknown")
      );
    case "taken back":
      // To callers who were never told otherwise it was declined.
      if (told === null) return status === 402 && body.code === declined(kind);
      return isToldAsDone({ status, body }, operation);
    case "succeeded":
      return isToldAsDone({ status, body }, operation);
    case "declined":
      return status === 402 && body.code === declined(kind);
    case "gone":
      return status === 409 && body.code === "payment_expired";
    case "not sent":
      return false;
  }
}

function isToldAsDone({ status, body }: HttpAnswer, operation: Operation): boolean {
  const { told } = operation;
  return (
    status === 201 &&
    told !== null &&
    hasTotals(body.payment, told) &&
    // It is the same for ever, whatever the customer says later.
    (body.payment.disputes ?? []).length === 0 &&
    showsOperation(body, operation, "succeeded")
  );
}

function declined(kind: Kind): string {
  return kind === "authorize" ? "authorization_declined" : `${kind}_declined`;
}

/** An authorization's answer is the payment alone. */
function showsOperation(body: HttpAnswer["body"], { kind, amount }: Operation, status: string): boolean {
  if (kind === "authorize") return body.payment.amount === amount;
  return body[kind]?.status === status && body[kind].amount === amount;
}

export interface WirePayment {
  readonly status: string;
  readonly amount: number;
  readonly currency: string;
  readonly amountCaptured: number;
  readonly amountRefunded: number;
  readonly captures: readonly WireOperation[];
  readonly refunds: readonly WireOperation[];
  readonly disputes?: readonly { readonly status: string; readonly amount: number }[];
}

export interface WireOperation {
  readonly status: string;
  readonly amount: number;
}

function hasTotals(payment: WirePayment | undefined, { status, captured, refunded }: Shown): boolean {
  return (
    payment?.status === status && payment.amountCaptured === captured && payment.amountRefunded === refunded
  );
}

function isShown(state: PaymentState, payment: WirePayment): boolean {
  return (
    state.status !== "none" &&
    hasTotals(payment, shown(state)) &&
    payment.amount === state.amount &&
    payment.currency === state.currency &&
    areShown(state, "capture", payment.captures) &&
    areShown(state, "refund", payment.refunds) &&
    isDisputeShown(state, payment)
  );
}

export const ON_THE_WIRE = {
  open: "unknown",
  succeeded: "succeeded",
  declined: "failed",
  gone: "failed",
  "taken back": "failed",
} as const;

/** What was never sent is not shown. */
function areShown(state: PaymentState, kind: Kind, operations: readonly WireOperation[]): boolean {
  const ours = [...state.operations.values()].flatMap(({ kind: own, is, amount }) =>
    own === kind && is !== "not sent" ? [`${ON_THE_WIRE[is]} ${amount}`] : [],
  );
  return isSame(
    ours,
    operations.map(({ status, amount }) => `${status} ${amount}`),
  );
}

/** Once, over what was captured. */
function isDisputeShown(state: PaymentState, { disputes = [], amountCaptured }: WirePayment): boolean {
  const ours = state.dispute === null ? [] : [`${state.dispute} ${amountCaptured}`];
  return isSame(
    ours,
    disputes.map(({ status, amount }) => `${status} ${amount}`),
  );
}

interface Move {
  readonly kind: Kind;
  readonly gatewayKey: string;
  readonly amount: number;
}

const ELSEWHERE = /^elsewhere(\.|$)/;

/**
 * The gateway's count: once for each operation that has succeeded, perhaps for the one that is open, and for no other one. The
 * money of an expired payment is let go once more than anybody asked for.
 */
function haveMoved(state: PaymentState, moves: readonly Move[]): boolean {
  const own = moves.filter(({ gatewayKey }) => !ELSEWHERE.test(gatewayKey));
  if (new Set(own.map(({ gatewayKey }) => gatewayKey)).size < own.length) return false;
  const moved = own.map(nameOfMove);
  const ours = [...state.operations.values()].filter(
    ({ byOthers, imported }) => byOthers !== true && imported !== true,
  );
  const isSure = ({ is, byPerson }: Operation) =>
    (is === "succeeded" || is === "taken back") && byPerson !== "overridden";
  const must = ours.filter(isSure).map(nameOfMove);
  const may = ours.filter(({ is, byPerson }) => is === "open" || byPerson === "overridden").map(nameOfMove);
  if (state.status === "expired") may.push(nameOfMove({ kind: "void", amount: state.amount }));
  const rest = without(must, moved);
  return rest !== null && without(rest, may) !== null;
}

/** Null: it is not all there. */
function without(some: readonly string[], all: readonly string[]): string[] | null {
  const rest = [...all];
  for (const one of some) {
    const at = rest.indexOf(one);
    if (at < 0) return null;
    rest.splice(at, 1);
  }
  return rest;
}

function nameOfMove({ kind, amount }: Pick<Move, "kind" | "amount">): string {
  return `${kind} ${amount}`;
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return [...some].sort().join() === [...others].sort().join();
}
