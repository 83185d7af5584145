import type { Verdict } from "../search/span";
import type { PaymentCall, PaymentHistory } from "./payment-call";
import type { Moment } from "./payment-model";
import { mayHaveBegun } from "./spans-of-payment";
import { describeState, type PaymentState } from "./payment-state";
import type { Contradiction } from "./same-key-same-answer";

/** A bad history as a person reads it: the calls that matter, and where the explanations end. */
export function printed(payment: PaymentHistory, why: Verdict<PaymentState, Moment> | Contradiction): string {
  if ("about" in why) {
    const { first, second, about } = why;
    return [`payment ${payment.name}: ${about}`, ...linesOf([first, second], second)].join("\n");
  }
  if (why.isGood) return `payment ${payment.name}: good`;
  const { call } = why.unexplained;
  const calls = withoutRepetitions(payment.calls.filter((one) => mayMatter(one, payment.calls)));
  const culprit = call.does === "answer" ? call.call : null;
  const states = why.states.map((state) => `    ${describeState(state)}`);
  return [
    `payment ${payment.name}: no order of its calls explains all answers`,
    ...linesOf(calls, culprit),
    `  The answers before >> have an explanation (${why.explained} of them). At >> the payment can only have been:`,
    ...states,
    `  (${calls.length} of the payment's ${payment.calls.length} calls are shown; the contradiction needs no others.)`,
  ].join("\n");
}

/** Of requests whose answers do not matter, the first one that may have begun the operation stands for all. */
function withoutRepetitions(calls: readonly PaymentCall[]): PaymentCall[] {
  const seen = new Set<string>();
  return calls.filter((call) => {
    if (!call.isForgotten) return true;
    const request = requestOf(call);
    return seen.size < seen.add(request).size;
  });
}

/** A request that may have begun an operation matters as long as another one's answer is needed that came later. */
function mayMatter({ asks, http, isForgotten }: PaymentCall, calls: readonly PaymentCall[]): boolean {
  if (!isForgotten) return true;
  if (asks.for !== "movement" || (http.answer !== null && !mayHaveBegun(http.answer))) return false;
  return calls.some((one) => !one.isForgotten && (one.http.end ?? Infinity) > http.begin);
}

function linesOf(calls: readonly PaymentCall[], culprit: PaymentCall | null): string[] {
  const zero = Math.min(...calls.map(({ http }) => http.begin));
  return [...calls]
    .sort(({ http: one }, { http: other }) => (one.end ?? one.begin) - (other.end ?? other.begin))
    .map((call) => {
      const { begin, end, client } = call.http;
      const times = `${(begin - zero).toFixed(3)} to ${end === null ? "…" : (end - zero).toFixed(3)} ms`;
      return `  ${call === culprit ? ">>" : "  "} ${times}, ${client}: ${requestOf(call)} -> ${answerOf(call)}`;
    });
}

function requestOf({ asks, http }: PaymentCall): string {
  if (asks.for === "payment") return "read";
  if (asks.for === "moves") return "gateway's moves";
  if (asks.for === "verdict")
    return `verdict on ${asks.kind} ${asks.operationId} ${JSON.stringify(http.request.body)}`;
  return `${asks.kind} ${asks.key} ${JSON.stringify(http.request.body ?? {})}`;
}

function answerOf({ asks, http: { answer }, isForgotten }: PaymentCall): string {
  if (answer === null) return "no answer";
  if (isForgotten === true) return "whatever it was told";
  const { status, body } = answer;
  if (asks.for === "moves" && status === 200)
    return (body.moves as { kind: string; amount: number }[])
      .map(({ kind, amount }) => `${kind} ${amount}`)
      .join(", ");
  if (body?.code !== undefined) return `${status} ${body.code}`;
  const { payment } = body;
  const totals = `${payment?.status}, captured ${payment?.amountCaptured}, refunded ${payment?.amountRefunded}`;
  return `${status} ${totals}`;
}
