import type { HttpAnswer } from "../history/http-call";
import type { Span } from "../search/span";
import type { GatewayBehaviour } from "./gateway-behaviour";
import { isRefusedImport } from "./imports";
import type { Movement, PaymentCall, PaymentHistory } from "./payment-call";
import type { Moment } from "./payment-model";
import { operationName } from "./payment-state";

/** By how much the clocks of processes and of their clients may differ, on one machine. */
const CLOCKS_DIFFER_MS = 100;

/** Everything that may have happened to the payment, and when, by what its clients saw. */
export function spansOfPayment({ calls }: PaymentHistory, gateway: GatewayBehaviour): Span<Moment>[] {
  const ends = endsOfAuthorization(calls);
  const bound = boundKeys(calls);
  const spans = calls.flatMap((call) => [
    ...intentsOf(call, ends, bound, gateway),
    ...decisionOf(call),
    ...answerOf(call),
  ]);
  for (const end of ends)
    spans.push(maybe({ does: "lapse" }, end - CLOCKS_DIFFER_MS, Infinity, `lapse at ${end}`));
  if (gateway.others !== null)
    spans.push(maybe({ does: "others", kind: gateway.others }, calls[0]!.http.begin, Infinity, "others"));
  return spans;
}

function answerOf(call: PaymentCall): Span<Moment>[] {
  const { begin, end, answer } = call.http;
  if (answer === null || end === null || call.isForgotten) return [];
  return [{ begin, end, required: true, onlyLooks: true, call: { does: "answer", call } }];
}

/** What leaves open whether the request began something, and may still begin it. */
function leavesOpen({ http: { answer } }: PaymentCall): boolean {
  if (answer === null) return true;
  return answer.body?.code === "service_unavailable" && answer.body.outcome === "unknown";
}

/** Of a person. */
function decisionOf(call: PaymentCall): Span<Moment>[] {
  const { asks: verdict, http } = call;
  if (verdict.for !== "verdict" || verdict.outcome === "pending") return [];
  const isOpen = leavesOpen(call);
  if (!isOpen && http.answer!.status !== 200) return [];
  const { operationId, outcome, overrides } = verdict;
  const name = `decide ${operationId} ${outcome} ${overrides}`;
  return [maybe({ does: "decide", verdict }, http.begin, isOpen ? Infinity : http.end!, name)];
}

const NOT_SENT = new Set(["gateway_unavailable", "lock_lost"]);

/** A request that was answered by one of these, or by an outcome, may have begun an operation. All others say that they did not. */
export function mayHaveBegun({ status, body }: HttpAnswer): boolean {
  return [201, 202, 402].includes(status) || NOT_SENT.has(body?.code) || body?.code === "payment_expired";
}

function intentsOf(
  call: PaymentCall,
  ends: readonly number[],
  bound: ReadonlySet<string>,
  { isNotReached }: GatewayBehaviour,
): Span<Moment>[] {
  const { asks: movement, http } = call;
  if (movement.for !== "movement") return [];
  if (movement.imports !== null && http.answer !== null && isRefusedImport(http.answer)) return [];
  const isOpen = leavesOpen(call);
  if (!isOpen && !mayHaveBegun(http.answer!)) return [];
  if (isTooLate(movement, http.begin, ends)) return [];
  const end = isOpen ? Infinity : (http.end ?? Infinity);
  const name = `${movement.kind} ${movement.key} ${movement.content}`;
  const begin = maybe({ does: "begin", movement }, http.begin, end, `begin ${name}`);
  const canBeNotSent =
    (isOpen && isNotReached.includes(movement.kind)) || NOT_SENT.has(http.answer?.body?.code);
  if (!canBeNotSent) return [begin];
  const isBound = bound.has(operationName(movement.kind, movement.key));
  return [begin, maybe({ does: "not sent", movement, isBound }, http.begin, end, `not sent ${name}`)];
}

const SHOW_A_BOUND_KEY = new Set([...NOT_SENT, "idempotency_key_reused", "idempotency_key_in_use"]);

/**
 * Operations of which it can make a difference that they were begun although nothing was sent: their key is bound. All others
 * are then as if they had not begun, which keeps the explanations few.
 */
function boundKeys(calls: readonly PaymentCall[]): Set<string> {
  const bound = new Set<string>();
  for (const { asks, http } of calls) {
    if (asks.for !== "movement") continue;
    const isOfAll = asks.kind === "refund" && asks.amount === null;
    if (isOfAll || SHOW_A_BOUND_KEY.has(http.answer?.body?.code))
      bound.add(operationName(asks.kind, asks.key));
  }
  return bound;
}

/** After the end of the authorization that every answer has named, neither a capture nor a void begins. */
function isTooLate({ kind }: Movement, begin: number, ends: readonly number[]): boolean {
  if (kind !== "capture" && kind !== "void") return false;
  return ends.length > 0 && ends.every((end) => begin > end + CLOCKS_DIFFER_MS);
}

/** All that answers have named, by the clock of the history. */
function endsOfAuthorization(calls: readonly PaymentCall[]): number[] {
  const ends = new Map<string, number>();
  for (const { http } of calls) {
    const named = http.answer?.body?.payment?.expiresAt as string | undefined;
    if (named !== undefined && !ends.has(named))
      ends.set(named, http.begin + Date.parse(named) - http.beginWallMs);
  }
  return [...ends.values()];
}

function maybe(call: Moment, begin: number, end: number, alike: string): Span<Moment> {
  return { begin, end, call, required: false, alike, isLasting: end === Infinity };
}
