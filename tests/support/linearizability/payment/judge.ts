import type { HttpCall } from "../history/http-call";
import { checkSpans, TooManyExplanations } from "../search/check-spans";
import type { Verdict } from "../search/span";
import { importedMethod, importedTwice } from "./imports";
import { simulatedGateway, type GatewayBehaviour } from "./gateway-behaviour";
import { firstContradiction } from "./same-key-same-answer";
import { partition, type PaymentHistory } from "./payment-call";
import { paymentModel, type Moment } from "./payment-model";
import { operationName, type PaymentState } from "./payment-state";
import { printed } from "./printed";
import { spansOfPayment } from "./spans-of-payment";

export interface Judgement {
  readonly payments: number;
  readonly calls: number;
  readonly answered: number;
  /** Each of a payment whose history has no explanation, for people. */
  readonly bad: readonly string[];
}

/** More of them are not printed: the first ones tell enough. */
const MOST_PRINTED = 5;

/**
 * Whether each payment's history is one that the published tables allow. `gateway`: by payment method. `inFull`: a bad one is
 * printed with all of its calls; to find the few that contradict each other takes many times as long as to know that it is bad.
 */
export function judge(
  history: readonly HttpCall[],
  gateway: (paymentMethod: string) => GatewayBehaviour = simulatedGateway,
  { inFull = false }: { readonly inFull?: boolean } = {},
): Judgement {
  const bad = importedTwice(history);
  const payments = partition(history);
  for (const payment of payments) {
    if (bad.length === MOST_PRINTED) break;
    const behaviour = gateway(paymentMethodOf(payment));
    const contradiction = firstContradiction(payment.calls);
    if (contradiction !== null) bad.push(printed(payment, contradiction));
    else if (isBad(payment, behaviour)) {
      const least = inFull ? payment : smallest(payment, behaviour);
      bad.push(printed(least, verdictOf(least, behaviour)));
    }
  }
  const calls = payments.flatMap((payment) => payment.calls);
  const answered = calls.filter(({ http }) => http.answer !== null).length;
  return { payments: payments.length, calls: calls.length, answered, bad };
}

function isBad(payment: PaymentHistory, gateway: GatewayBehaviour): boolean {
  try {
    return !verdictOf(payment, gateway).isGood;
  } catch (error) {
    throw new Error(`payment ${payment.name}, ${payment.calls.length} calls`, { cause: error });
  }
}

/** With less to go by, there may be too many explanations to try. */
function isStillBad(payment: PaymentHistory, gateway: GatewayBehaviour): boolean {
  try {
    return !verdictOf(payment, gateway).isGood;
  } catch (error) {
    if (error instanceof TooManyExplanations) return false;
    throw error;
  }
}

function verdictOf(payment: PaymentHistory, gateway: GatewayBehaviour): Verdict<PaymentState, Moment> {
  const id = payment.name.startsWith("key ") ? null : payment.name;
  const told = new Set(
    payment.calls.flatMap(({ asks, http }) =>
      asks.for === "movement" && http.answer?.status === 201 ? [operationName(asks.kind, asks.key)] : [],
    ),
  );
  const ids = new Map(
    payment.calls.flatMap(({ asks, http }) => {
      const shown: unknown = asks.for === "movement" ? http.answer?.body?.[asks.kind]?.id : undefined;
      return asks.for === "movement" && typeof shown === "string"
        ? [[operationName(asks.kind, asks.key), shown] as const]
        : [];
    }),
  );
  const model = paymentModel({
    id,
    gateway,
    isTold: (operation) => told.has(operation),
    idOf: (operation) => ids.get(operation),
    mayGoBack: payment.calls.some(({ asks }) => asks.for === "verdict" && asks.mayGoBack),
  });
  return checkSpans(model, spansOfPayment(payment, gateway));
}

function paymentMethodOf({ calls }: PaymentHistory): string {
  for (const { asks, http } of calls)
    if (asks.for === "movement" && asks.kind === "authorize")
      return (
        importedMethod(http.request.body) ??
        (http.request.body as { paymentMethod?: string }).paymentMethod ??
        ""
      );
  return "";
}

/**
 * The same contradiction with fewer answers: to forget what was answered allows more and never less, so what is still bad
 * without an answer is bad because of the others.
 */
function smallest(payment: PaymentHistory, gateway: GatewayBehaviour): PaymentHistory {
  let { calls } = payment;
  for (const call of payment.calls) {
    const fewer = calls.map((one) => (one === call ? { ...one, isForgotten: true as const } : one));
    if (isStillBad({ ...payment, calls: fewer }, gateway)) calls = fewer;
  }
  return { ...payment, calls };
}
