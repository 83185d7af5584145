import type { PaymentRepository } from "../../../../src/application/ports/payment-repository";
import type { PaymentEvent } from "../../../../src/domain/payment/events";
import type { Payment } from "../../../../src/domain/payment/payment";
import { gatewayKey, isRelease } from "../../../../src/domain/payment/operation";
import { answerDisagreements } from "./answer-agreement";
import type { GatewayDealings } from "./gateway-dealings";
import { historyDisagreements, wasCorrected } from "./history-agreement";
import { merchant, NOBODY_HERE, type Told, type Wish } from "../life-commands";
import { moneyDisagreements, verdictAbout } from "./money-agreement";

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
    const about = await ofPayment(payment, byPayment.get(payment.facts.id) ?? [], evidence);
    found.push(...about.map((what) => `payment ${payment.facts.id}: ${what}`));
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
  const events = (await payments.events(payment.facts.id)) ?? [];
  const { operations } = payment.facts;
  const { excused, misled } = await mistakenVerdicts(payment, events, evidence);
  const mayDiffer =
    wasCorrected(events) ||
    operations.some((operation) => excused.has(operation.id) || gateway.wasUndone(gatewayKey(operation)));
  const found = [
    ...(await moneyDisagreements(payment, gateway, told, excused, misled)),
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

/**
 * About which a person was wrong, while the gateway was silent or was overridden, or which it undid: nobody here could know.
 * `excused` ended so. `misled` has each wrong verdict, also one that was set right since: callers were told so meanwhile.
 */
async function mistakenVerdicts(
  payment: Payment,
  events: readonly PaymentEvent[],
  { gateway, insisted }: Evidence,
): Promise<{ readonly excused: ReadonlySet<string>; readonly misled: ReadonlySet<string> }> {
  const excused = new Set<string>();
  const misled = new Set<string>();
  const moves = await gateway.moves(payment.facts.id);
  for (const operation of payment.facts.operations) {
    const { id, status } = operation;
    const couldNotKnow = ({ data }: PaymentEvent) => {
      const said = (data["gateway"] as { readonly answer?: string } | undefined)?.answer;
      return insisted.has(id) || said === "absent" || said === "unknown" || said === "mismatch";
    };
    const verdicts = events.filter(
      ({ type, data }) => type === "review.resolved" && data["operationId"] === id,
    );
    const last = verdicts.at(-1);
    // That a refund came back after it succeeded, the gateway tells only those who ask.
    const isUndone = gateway.wasUndone(gatewayKey(operation));
    const moved = moves.some(({ gatewayKey: key }) => key.startsWith(id));
    const isExcused = isUndone || insisted.has(id) || (last !== undefined && couldNotKnow(last));
    if (isExcused && moved !== (status === "succeeded")) excused.add(id);
    for (const verdict of verdicts.filter(couldNotKnow)) {
      const { outcome, resolvedBy } = verdict.data;
      if (resolvedBy === "operator" && outcome !== (moved ? "moved" : "not_moved"))
        misled.add(verdictAbout(id, String(outcome)));
    }
  }
  return { excused, misled };
}

function byQuestionOf(told: readonly Told[]): ReadonlyMap<string, readonly Told[]> {
  const groups = new Map<string, Told[]>();
  for (const one of told) groups.set(questionOf(one), [...(groups.get(questionOf(one)) ?? []), one]);
  return groups;
}
