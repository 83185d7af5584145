import { checkMembers, checkName, checkOptions } from "./checked-call";
import { HoldfastUsageError } from "./client-errors";
import type { CaptureItem, CaptureResult, CaptureResults, Captured, Problem } from "./generated/schemas";
import type { CallOptions } from "./holdfast-client";
import { waitFor } from "./wait-for";
import type { Wire } from "./wire";

/** One of many captures: your name for it, as for a capture on its own. */
export interface CaptureOrder {
  readonly name: string;
  readonly paymentId: string;
  readonly amount?: number;
  /** If given, it must match the payment's currency. */
  readonly currency?: string;
}

/**
 * What became of one of them. `unknown`: the gateway has not confirmed it yet. `unanswered`: its request was refused as a
 * whole, or had no answer, and it may have been captured. In both cases the same name finds out later.
 */
export type CaptureOutcome =
  | { readonly outcome: "captured" | "unknown"; readonly answer: Captured; readonly idempotencyKey: string }
  | { readonly outcome: "refused"; readonly problem: Problem; readonly idempotencyKey: string }
  | { readonly outcome: "unanswered"; readonly error: Error; readonly idempotencyKey: string };

const MOST_IN_A_REQUEST = 500;
/** Keys that are stored at the same time. */
const KEYS_AT_ONCE = 32;
const SHORTEST_PAUSE_MS = 200;

/** Items that may yet succeed are sent again, without the others, until the time is over. */
export async function captureMany(
  wire: Wire,
  orders: readonly CaptureOrder[],
  options: CallOptions = {},
): Promise<readonly CaptureOutcome[]> {
  checkOptions(options);
  const { withinMs = wire.withinMs, signal } = options;
  checkOrders(orders);
  const endsAtMs = performance.now() + withinMs;
  const items: Item[] = [];
  for (let first = 0; first < orders.length; first += KEYS_AT_ONCE)
    items.push(
      ...(await Promise.all(orders.slice(first, first + KEYS_AT_ONCE).map((order) => itemOf(wire, order)))),
    );
  const send = async (part: readonly Item[]): Promise<void> => {
    const captures = part.map(({ sent }) => sent);
    // Each item has a key of its own, so the whole may be repeated.
    const request = wire.request("capturePayments", { body: { captures } }, null, true);
    const leftMs = Math.max(1, endsAtMs - performance.now());
    try {
      const { body } = await wire.send(request, { withinMs: leftMs, signal });
      const { results } = body as CaptureResults;
      for (const [n, item] of part.entries()) item.result = results[n] ?? item.result;
    } catch (error) {
      signal?.throwIfAborted();
      // What others have come to is not to be lost for it.
      for (const item of part) item.error = error as Error;
    }
  };
  let open = items;
  for (;;) {
    for (let first = 0; first < open.length; first += MOST_IN_A_REQUEST)
      await send(open.slice(first, first + MOST_IN_A_REQUEST));
    open = open.filter(({ result, error }) => error === null && isPassing(result));
    const waitMs = Math.max(SHORTEST_PAUSE_MS, ...open.map(({ result }) => retryAfterMs(result)));
    if (open.length === 0 || performance.now() + waitMs >= endsAtMs) return items.map(outcomeOf);
    await waitFor(waitMs, signal);
  }
}

interface Item {
  readonly sent: CaptureItem;
  result: CaptureResult | null;
  /** Why there is no result, or no newer one. */
  error: Error | null;
}

/** All of them, before the first key is stored. */
function checkOrders(orders: readonly CaptureOrder[]): void {
  if (!Array.isArray(orders)) throw new HoldfastUsageError("invalid_body", "orders have to be a list");
  for (const [n, order] of (orders as readonly CaptureOrder[]).entries()) {
    checkMembers(order, `orders[${n}]`, ["name", "paymentId", "amount", "currency"]);
    checkName(order.name);
    const paymentId: unknown = order.paymentId;
    if (typeof paymentId !== "string" || paymentId === "")
      throw new HoldfastUsageError("invalid_body", `orders[${n}].paymentId is missing`);
  }
}

async function itemOf(wire: Wire, { name, paymentId, amount, currency }: CaptureOrder): Promise<Item> {
  const idempotencyKey = await wire.keyOf(name);
  const sent = {
    paymentId,
    idempotencyKey,
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
  };
  return { sent, result: null, error: null };
}

function isPassing(result: CaptureResult | null): boolean {
  return result !== null && result.status >= 400 && (result.body as Problem).retryable;
}

function retryAfterMs(result: CaptureResult | null): number {
  const seconds = result?.headers["Retry-After"];
  return typeof seconds === "number" && Number.isFinite(seconds) ? seconds * 1_000 : 0;
}

function outcomeOf({ sent: { idempotencyKey }, result, error }: Item): CaptureOutcome {
  if (result === null || error !== null)
    return { outcome: "unanswered", error: error ?? new Error("the server gave no result"), idempotencyKey };
  const { status, body } = result;
  if (status >= 400) return { outcome: "refused", problem: body as Problem, idempotencyKey };
  return { outcome: status === 202 ? "unknown" : "captured", answer: body as Captured, idempotencyKey };
}
