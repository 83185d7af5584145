import type { PaymentRepository } from "../../../../src/application/ports/payment-repository";
import { outcomeOf } from "../../../../src/application/operations/operation-outcome";
import { isRelease, type OperationKind } from "../../../../src/domain/payment/operation";
import {
  amountRefunded,
  visibleStatus,
  amountCaptured,
  type Payment,
} from "../../../../src/domain/payment/payment";
import type { PaymentEvent } from "../../../../src/domain/payment/events";
import { merchant } from "../life-commands";

interface Replayed {
  readonly kind: OperationKind;
  readonly status: string;
  readonly amount: bigint;
}

const ordinary =
  /^(authorize|capture|void|refund)\.(started|succeeded|failed|unknown|pending|not_sent|resent)$/;
/** After one of these, what an operation once was told to be need not be what it is. */
const corrections = new Set(["operation.evidence_conflict", "review.resolved"]);

/** Whether the history was corrected: then former answers may differ from what is true now. */
export function wasCorrected(events: readonly PaymentEvent[]): boolean {
  return events.some(({ type, data }) => corrections.has(type) && data["resolvedBy"] !== "gateway");
}

/** In which ways the history, the rows, and the views of them disagree about one payment. */
export async function historyDisagreements(
  payment: Payment,
  events: readonly PaymentEvent[],
  payments: PaymentRepository,
): Promise<string[]> {
  const found: string[] = [];
  const inOrder = events.every(({ sequence }, at) => sequence === at + 1);
  if (!inOrder || events.length !== payment.facts.eventCount)
    found.push(`${events.length} events, numbered ${events.map(({ sequence }) => sequence).join()}`);

  const byHistory = replay(events);
  for (const operation of payment.facts.operations) {
    const told = byHistory.get(operation.id);
    const amount = told?.amount === 0n ? operation.amount : told?.amount;
    if (told?.status !== operation.status || amount !== operation.amount)
      found.push(
        `${operation.kind} ${operation.id} is ${operation.status} over ${operation.amount}, by its history ${told?.status} over ${amount}`,
      );
  }
  const isCaptured = payment.facts.status === "captured";
  if (isCaptured !== payment.facts.operations.some(isSuccessful("capture")))
    found.push(`${payment.facts.status}, with captures ${amountCaptured(payment)}`);

  if (!wasCorrected(events)) found.push(...answersThatDiffer(payment, events));

  const listed = await payments.list({
    merchant,
    status: visibleStatus(payment),
    limit: 100,
    ...around(payment),
  });
  const row = listed.data.find(({ facts }) => facts.id === payment.facts.id);
  if (row === undefined) found.push(`is not listed among those that are ${visibleStatus(payment)}`);
  else if (amountCaptured(row) !== amountCaptured(payment) || amountRefunded(row) !== amountRefunded(payment))
    found.push(`the list says ${amountCaptured(row)} and ${amountRefunded(row)}`);
  return found;
}

/** What is answered to a key again and again is what was true when its operation succeeded. */
function answersThatDiffer(payment: Payment, events: readonly PaymentEvent[]): string[] {
  const found: string[] = [];
  const totals = { capture: 0n, refund: 0n };
  for (const { type, data } of events) {
    const operation = payment.facts.operations.find(({ id }) => id === data["operationId"]);
    // What the gateway has taken back is no part of what is answered afterwards.
    if (type === "refund.failed" && data["recorded"] === "succeeded" && operation !== undefined)
      totals.refund -= operation.amount;
    if (operation === undefined || type !== `${operation.kind}.succeeded` || isRelease(operation)) continue;
    const { kind } = operation;
    if (kind === "capture" || kind === "refund") totals[kind] += operation.amount;
    const answer = outcomeOf(payment, operation.id, true).payment;
    if (amountCaptured(answer) !== totals.capture || amountRefunded(answer) !== totals.refund)
      found.push(
        `${kind} ${operation.id} is answered with captured ${amountCaptured(answer)} and refunded ${amountRefunded(answer)}; it was ${totals.capture} and ${totals.refund}`,
      );
  }
  return found;
}

/** Operations by id, as the events alone tell of them. */
function replay(events: readonly PaymentEvent[]): ReadonlyMap<string, Replayed> {
  const operations = new Map<string, Replayed>();
  for (const { type, data } of events) {
    const id = data["operationId"];
    if (typeof id !== "string") continue;
    const before = operations.get(id);
    const kind = (ordinary.exec(type)?.[1] ?? before?.kind ?? "authorize") as OperationKind;
    const status = statusAfter(type, data, before?.status);
    const amount = typeof data["amount"] === "number" ? BigInt(data["amount"]) : (before?.amount ?? 0n);
    operations.set(id, { kind, status, amount });
  }
  return operations;
}

function statusAfter(type: string, data: PaymentEvent["data"], before = "none"): string {
  if (type === "payment.authorized") return "succeeded";
  if (type === "operation.needs_review") return "needs_review";
  if (type === "review.resolved") {
    if (data["outcome"] === "moved") return "succeeded";
    return data["outcome"] === "not_moved" ? "failed" : before;
  }
  const step = ordinary.exec(type)?.[2];
  if (step === undefined || step === "resent") return before;
  // A refused release goes on under its next key.
  return step === "failed" && data["nextKey"] !== undefined ? "unknown" : step;
}

function isSuccessful(kind: OperationKind): (operation: { kind: string; status: string }) => boolean {
  return (operation) => operation.kind === kind && operation.status === "succeeded";
}

function around({ facts }: Payment): { readonly createdFrom: Date; readonly createdTo: Date } {
  return { createdFrom: facts.createdAt, createdTo: new Date(facts.createdAt.getTime() + 1) };
}
