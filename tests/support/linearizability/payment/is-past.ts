import { ON_THE_WIRE, type WireOperation, type WirePayment } from "./answer-fits";
import type { Kind, PaymentCall } from "./payment-call";
import { operationName, type PaymentState } from "./payment-state";

/**
 * Whether the payment has operations that an answer does not show although it shows everything up to its moment: captures and
 * refunds that have ended stay, so the payment is past that moment.
 */
export function isPast(state: PaymentState, { http, asks }: PaymentCall): boolean {
  const payment = http.answer?.body?.payment as WirePayment | undefined;
  if (payment === undefined || asks.for === "moves") return false;
  if (asks.for === "movement") {
    const own = state.operations.get(operationName(asks.kind, asks.key));
    // An operation that has ended is shown as it was then.
    if (own !== undefined && own.is !== "open" && own.is !== "not sent") return false;
  }
  return hasMore(state, "capture", payment.captures) || hasMore(state, "refund", payment.refunds);
}

function hasMore(state: PaymentState, kind: Kind, shown: readonly WireOperation[]): boolean {
  const left = shown.map(({ status, amount }) => `${status} ${amount}`);
  for (const { kind: own, is, amount } of state.operations.values()) {
    if (own !== kind || is === "open" || is === "not sent") continue;
    const at = left.indexOf(`${ON_THE_WIRE[is]} ${amount}`);
    if (at < 0) return true;
    left.splice(at, 1);
  }
  return false;
}
