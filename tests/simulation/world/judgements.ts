import { isInReview } from "../../../src/domain/payment/operation";
import { openOperationOf, type Payment } from "../../../src/domain/payment/payment";
import type { GatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/gateway-ledger";
import type { HttpCall } from "../../support/linearizability/history/http-call";
import {
  reliable,
  simulatedGateway,
  type GatewayBehaviour,
} from "../../support/linearizability/payment/gateway-behaviour";
import { judge } from "../../support/linearizability/payment/judge";
import { partition, type Kind } from "../../support/linearizability/payment/payment-call";
import { TooManyExplanations } from "../../support/linearizability/search/check-spans";
import { tellable } from "../../support/told-events";
import { historyDisagreements, wasCorrected } from "../payment-life/judges/history-agreement";
import { merchant } from "../payment-life/life-commands";
import type { Ground } from "./ground";
import { receiverNames, type Taken, type ToldEvent } from "./listeners";
import type { Network } from "./network";
import { START_MS } from "./time/virtual-time";

const DAY_MS = 86_400_000;
const KINDS: readonly Kind[] = ["authorize", "capture", "void", "refund"];
const DECIDED_LATE = /^tok_(?:(authorize|capture|void|refund)_)?(?:pending_then_failed|error_500_stored)$/;

export interface Evidence {
  /** A payment whose history has too many explanations to be judged. */
  readonly onTooWide: (paymentId: string) => void;
  readonly network: Network;
  readonly ground: Ground;
  readonly ledger: GatewayLedger;
  /** What a reader of the feed was told. */
  readonly told: readonly ToldEvent[];
  readonly taken: readonly Taken[];
}

/** Everything that is wrong when the weather has been good for long enough; one line each, or one history. */
export async function judgements(evidence: Evidence): Promise<string[]> {
  const payments = await allPayments(evidence);
  const events = evidence.ground.events();
  const found: string[] = [];
  for (const payment of payments) {
    const { id } = payment.facts;
    const about = [...atRest(payment), ...(await ofHistory(payment, evidence, events))];
    found.push(...about.map((what) => `payment ${id}: ${what}`));
  }
  return [
    ...found,
    ...ofFeed(evidence, events),
    ...ofReceivers(evidence, events),
    ...(await ofCallers(evidence, payments)),
  ];
}

function atRest(payment: Payment): string[] {
  const open = openOperationOf(payment);
  if (open !== undefined) return [`${open.kind} is still ${open.status}`];
  const inReview = payment.facts.operations.filter(isInReview);
  return inReview.map(({ kind, id }) => `${kind} ${id} is before a person`);
}

/** What callers were told, against the published tables and the gateway's books. */
async function ofCallers({ network, ledger, onTooWide }: Evidence, payments: readonly Payment[]) {
  const history: HttpCall[] = [...network.history];
  const last = history.reduce((ms, { begin, end }) => Math.max(ms, begin, end ?? 0), 0);
  for (const { facts } of payments) {
    const moves = await ledger.transaction(facts.id, (tables) => tables.moves(facts.id));
    const shown = moves.map(({ kind, gatewayKey, amount }) => ({
      kind,
      gatewayKey,
      amount: Number(amount.amount),
    }));
    const path = `/gateway/payments/${facts.id}`;
    history.push({
      client: "the gateway's books",
      begin: last + 1,
      end: last + 2,
      beginWallMs: START_MS + last + 1,
      request: { method: "GET", path, key: null, body: null },
      answer: { status: 200, body: { moves: shown } },
    });
  }
  const found: string[] = [];
  for (const { name, calls } of partition(history)) {
    try {
      found.push(
        ...judge(
          calls.map(({ http }) => http),
          behaviour,
        ).bad,
      );
    } catch (error) {
      if (!(error instanceof Error && error.cause instanceof TooManyExplanations)) throw error;
      onTooWide(name);
    }
  }
  return found;
}

/** The road to the gateway refuses connections, too. */
function behaviour(method: string): GatewayBehaviour {
  const [isLate, kind = "capture"] = DECIDED_LATE.exec(method) ?? [];
  const own = isLate === undefined ? simulatedGateway(method) : { ...reliable, declines: [kind as Kind] };
  return { ...own, isNotReached: KINDS };
}

async function ofHistory(
  payment: Payment,
  { ground }: Evidence,
  feed: readonly ToldEvent[],
): Promise<string[]> {
  const events = (await ground.payments.events(payment.facts.id)) ?? [];
  const found = await historyDisagreements(payment, events, ground.payments);
  if (wasCorrected(events)) return found;
  const told = feed.filter(({ data }) => data.payment?.id === payment.facts.id);
  const [seen, toTell] = [told, tellable(events)].map((all) =>
    all.map(({ id, type }) => `${type} ${id}`).join(),
  );
  return seen === toTell ? found : [...found, `the feed tells ${seen}, and its history ${toTell}`];
}

/** A reader that never looked back has seen each event once, in the one order that there is, and what happened is in it. */
function ofFeed({ told }: Evidence, events: readonly ToldEvent[]): string[] {
  const [seen, there] = [told, events].map((all) => all.map(({ id }) => id));
  const at = there!.findIndex((id, n) => id !== seen![n]);
  if (at >= 0 || seen!.length > there!.length)
    return [`the feed has ${there!.length} events, a reader saw ${seen!.length}, and they differ at ${at}`];
  return [];
}

/** Each event at least once, none invented, always with the same body, and for the first time in the order of its payment. */
function ofReceivers({ taken }: Evidence, events: readonly ToldEvent[]): string[] {
  const found: string[] = [];
  const known = new Map(events.map((event) => [event.id, event]));
  for (const name of receiverNames) {
    const bodies = new Map<string, string>();
    const reached = new Map<string, number>();
    for (const { receiver, id, body } of taken) {
      if (receiver !== name) continue;
      const event = known.get(id);
      if (event === undefined) found.push(`${name} was told of ${id}, which never was`);
      if ((bodies.get(id) ?? body) !== body) found.push(`${name} was told ${id} in two ways`);
      if (bodies.has(id)) continue;
      bodies.set(id, body);
      const { payment, sequence = 0 } = event?.data ?? {};
      if (payment === undefined) continue;
      if (sequence <= (reached.get(payment.id) ?? 0)) found.push(`${name} was told ${id} after a later one`);
      reached.set(payment.id, sequence);
    }
    const missing = events.filter(({ id }) => !bodies.has(id));
    if (missing.length > 0)
      found.push(`${name} was never told of ${missing.length} events: ${missing[0]!.type} ${missing[0]!.id}`);
  }
  return found;
}

async function allPayments({ ground }: Evidence): Promise<Payment[]> {
  const all: Payment[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await ground.payments.list({
      merchant,
      limit: 100,
      ...(cursor !== undefined && { cursor }),
    });
    all.push(...page.data);
    if (page.nextCursor === null) return all;
    cursor = page.nextCursor;
  }
}

/** Nothing is open, nothing is on its way to be told. */
export async function isAtRest({ payments, webhooks, hints }: Ground): Promise<boolean> {
  const later = new Date(Date.now() + 400 * DAY_MS);
  const [due, deliveries, heard] = await Promise.all([
    payments.dueOperations(later, 1),
    webhooks.queue.backlog(later),
    hints.backlog(),
  ]);
  return due.length === 0 && deliveries.pending === 0 && heard.waiting === 0;
}
