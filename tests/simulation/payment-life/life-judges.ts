import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import type { PaymentEvent } from "../../../src/domain/payment-events";
import type { Payment } from "../../../src/domain/payment";
import { gatewayKey, isRelease } from "../../../src/domain/operation";
import { answerDisagreements } from "./answer-agreement";
import type { GatewayDealings } from "./gateway-dealings";
import { historyDisagreements, wasCorrected } from "./history-agreement";
import { merchant, NOBODY_HERE, type Told, type Wish } from "./life-commands";
import { moneyDisagreements } from "./money-agreement";

/** Refusals of a release before somebody has to hear of it, and some more. */
const MOST_RELEASES = 12;

export interface Evidence {
  readonly payments: PaymentRepository;
  readonly gateway: GatewayDealings;
  readonly told: readonly Told[];
  readonly asked: ReadonlyMap<string, number>;
  /** Operations about which a person has overridden the gateway. */
  readonly insisted: ReadonlySet<string>;
}

/** The scope of an idempotency key: an authorization's is the merchant, else the payment. */
export function questionOf({ kind, paymentId, key }: Wish): string {
  return kind === "authorize" ? `${kind} ${key}` : `${kind} ${key} of ${paymentId}`;
}

/** In which ways store, history, gateway and callers disagree in the end; empty if they do not. */
export async function disagreements(payments: readonly Payment[], evidence: Evidence): Promise<string[]> {
  const found: string[] = [];
  const byQuestion = byQuestionOf(evidence.told);
  const byPayment = new Map<string, Told[]>();
  for (const [, told] of byQuestion) {
    const [first] = told;
    if (first === undefined) continue;
    const id =
      first.kind === "authorize"
        ? await evidence.payments.findByAuthorizeKey(merchant, first.key)
        : first.paymentId;
    byPayment.set(id ?? "none", [...(byPayment.get(id ?? "none") ?? []), ...told]);
  }
  for (const payment of payments) {
    const about = await ofPayment(payment, byPayment.get(payment.id) ?? [], evidence);
    found.push(...about.map((what) => `payment ${payment.id}: ${what}`));
  }
  for (const { kind, key, answer } of byPayment.get("none") ?? []) {
    if (answer === "succeeded" || answer === "unknown")
      found.push(`${kind} ${key} was told as ${answer}, and is lost`);
  }
  const references = payments.flatMap(({ facts }) => facts.authorizationReference ?? []);
  if (new Set(references).size < references.length) found.push("two payments have the same authorization");
  const foreign = references.filter((reference) => reference.includes(NOBODY_HERE));
  found.push(...foreign.map((reference) => `${reference} was taken from another merchant`));
  return found;
}

async function ofPayment(payment: Payment, told: readonly Told[], evidence: Evidence): Promise<string[]> {
  const { payments, gateway, asked } = evidence;
  const events = (await payments.events(payment.id)) ?? [];
  const { operations } = payment.facts;
  const excused = await mistakenVerdicts(payment, events, evidence);
  const mayDiffer =
    wasCorrected(events) ||
    operations.some((operation) => excused.has(operation.id) || gateway.wasUndone(gatewayKey(operation)));
  const found = [
    ...(await moneyDisagreements(payment, gateway, told, excused)),
    ...(await historyDisagreements(payment, events, payments)),
  ];
  for (const [question, answers] of byQuestionOf(told)) {
    const { kind, key } = answers[0] as Told;
    const operation = operations.find((one) => one.kind === kind && one.idempotencyKey === key);
    const own = operation === undefined ? null : { payment, operation };
    found.push(...answerDisagreements(answers, own, asked.get(question) ?? 0, mayDiffer));
  }
  for (const { id, n } of operations.filter(isRelease)) {
    if (n > MOST_RELEASES) found.push(`release ${id} was sent under ${n} keys`);
  }
  return found;
}

/** About which a person was wrong, while the gateway was silent or was overridden, or which it undid: nobody here could know. */
async function mistakenVerdicts(
  payment: Payment,
  events: readonly PaymentEvent[],
  { gateway, insisted }: Evidence,
): Promise<ReadonlySet<string>> {
  const mistaken = new Set<string>();
  const moves = await gateway.moves(payment.id);
  for (const operation of payment.facts.operations) {
    const { id, status } = operation;
    const verdict = events.findLast(
      ({ type, data }) => type === "review.resolved" && data["operationId"] === id,
    );
    const said = (verdict?.data["gateway"] as { readonly answer?: string } | undefined)?.answer;
    // That a refund came back after it succeeded, the gateway tells only those who ask.
    const isUndone = gateway.wasUndone(gatewayKey(operation));
    const isExcused =
      isUndone || insisted.has(id) || said === "absent" || said === "unknown" || said === "mismatch";
    const moved = moves.some(({ gatewayKey: key }) => key.startsWith(id));
    if (isExcused && moved !== (status === "succeeded")) mistaken.add(id);
  }
  return mistaken;
}

function byQuestionOf(told: readonly Told[]): ReadonlyMap<string, readonly Told[]> {
  const groups = new Map<string, Told[]>();
  for (const one of told) groups.set(questionOf(one), [...(groups.get(questionOf(one)) ?? []), one]);
  return groups;
}
