import type { HttpCall } from "../history/http-call";
import { withoutBatches } from "./batch-of-captures";
import { importedBy, type Imported } from "./imports";
import { reviewsIn } from "./reviews";

export type Kind = "authorize" | "capture" | "void" | "refund";

/** A request about one payment, with what the published tables make of it. */
export interface PaymentCall {
  readonly http: HttpCall;
  readonly asks: Asks;
  /** What it was told is left out of account, and only what it may have done counts. */
  readonly isForgotten?: true;
}

export type Asks =
  | {
      readonly for: "movement";
      readonly kind: Kind;
      readonly key: string;
      /** Null: all that is there. */
      readonly amount: number | null;
      readonly currency: string | null;
      /** Requests with one key are the same request if this is the same. */
      readonly content: string;
      /** An authorization that was made elsewhere is taken over: what the gateway holds. */
      readonly imports: Imported | null;
    }
  | Verdict
  | { readonly for: "payment" }
  /** How often money moved, by the gateway's own count. */
  | { readonly for: "moves" };

/** A person decides what became of an operation. */
export interface Verdict {
  readonly for: "verdict";
  readonly operationId: string;
  readonly kind: Kind;
  readonly outcome: "moved" | "not_moved" | "pending";
  /** Whatever the gateway says. */
  readonly overrides: boolean;
  /** It had ended, and may end otherwise. */
  readonly mayGoBack: boolean;
}

export type Movement = Extract<Asks, { for: "movement" }>;

/** All calls of one payment. */
export interface PaymentHistory {
  /** The payment's id, or the key of an authorization whose payment no client ever saw. */
  readonly name: string;
  readonly calls: readonly PaymentCall[];
}

const PATH = /^\/payments\/([0-9a-f-]{36})(?:\/(capture|void|refunds))?$/;
const MOVES = /^\/gateway\/payments\/([0-9a-f-]{36})$/;

/** By payment, in the order of their begins. What is not about one payment (lists, events) is left out. */
export function partition(requests: readonly HttpCall[]): PaymentHistory[] {
  const history = withoutBatches(requests);
  const idOfKey = new Map<string, string>();
  for (const { request, answer } of history) {
    const id = idIn(answer?.body);
    if (isAuthorization(request) && request.key !== null && id !== null) idOfKey.set(request.key, id);
  }
  const reviews = reviewsIn(history);
  const partitions = new Map<string, PaymentCall[]>();
  for (const http of [...history].sort((one, other) => one.begin - other.begin)) {
    const found = reviews.verdictIn(http) ?? readCall(http);
    if (found === null) continue;
    const name = found.id ?? idOfKey.get(http.request.key ?? "") ?? `key ${http.request.key}`;
    const calls = partitions.get(name) ?? [];
    calls.push({ http, asks: found.asks });
    partitions.set(name, calls);
  }
  return [...partitions].map(([name, calls]) => ({ name, calls }));
}

function readCall(http: HttpCall): { id: string | null; asks: Asks } | null {
  const { method, path, key, body } = http.request;
  if (isAuthorization(http.request)) return { id: null, asks: movement("authorize", key, body) };
  const [, movesId] = MOVES.exec(path) ?? [];
  if (movesId !== undefined && method === "GET") return { id: movesId, asks: { for: "moves" } };
  const [, id, verb] = PATH.exec(path) ?? [];
  if (id === undefined) return null;
  if (method === "GET") return verb === undefined ? { id, asks: { for: "payment" } } : null;
  if (verb === undefined) return null;
  const kind = verb === "refunds" ? "refund" : (verb as Kind);
  return { id, asks: movement(kind, key, body) };
}

function isAuthorization({ method, path }: HttpCall["request"]): boolean {
  return method === "POST" && path === "/payments";
}

function movement(kind: Kind, key: string | null, sent: unknown): Movement {
  const body = (sent ?? {}) as { amount?: number; currency?: string };
  const { amount = null, currency = null } = body;
  const content = kind === "authorize" ? JSON.stringify(sent) : JSON.stringify([amount, currency]);
  const imports = kind === "authorize" ? importedBy(sent) : null;
  return { for: "movement", kind, key: key ?? "", amount, currency, content, imports };
}

/** In an answer, or in a problem. */
export function idIn(body: unknown): string | null {
  const { payment, paymentId } = (body ?? {}) as { payment?: { id?: string }; paymentId?: string };
  return payment?.id ?? paymentId ?? null;
}
