import type { Kind } from "./payment-call";

/** A payment as docs/payments.md defines it. Written from that page alone: nothing here comes from the program. */
export interface PaymentState {
  readonly status: "none" | "authorizing" | "authorized" | "captured" | "voided" | "expired" | "declined";
  readonly amount: number;
  readonly currency: string;
  /** Of the operation whose outcome is open. At most one is. */
  readonly open: string | null;
  /** By kind and key. */
  readonly operations: ReadonlyMap<string, Operation>;
  /** How far the customer's dispute has come; null: there is none. */
  readonly dispute: DisputeStatus | null;
}

/** In their order. */
export const disputeStatuses = ["needs_response", "under_review", "lost"] as const;
export type DisputeStatus = (typeof disputeStatuses)[number];

export interface Operation {
  readonly kind: Kind;
  readonly amount: number;
  /** The request that the key is bound to. */
  readonly content: string;
  /** `gone`: the gateway had let the money go. `taken back`: succeeded once, and failed later. */
  readonly is: "open" | "not sent" | "succeeded" | "declined" | "gone" | "taken back";
  /** The payment as the first final answer showed it, and every later one shows it again. */
  readonly told: Shown | null;
  /** Made at the gateway, and not by a request. */
  readonly byOthers?: true;
  /** Made elsewhere, before there was a payment. */
  readonly imported?: true;
  /** What a person has decided, against the gateway if need be. */
  readonly byPerson?: "decided" | "overridden";
}

/** What callers are shown of a payment. */
export interface Shown {
  readonly status: string;
  readonly captured: number;
  readonly refunded: number;
}

export const noPayment: PaymentState = {
  status: "none",
  amount: 0,
  currency: "",
  open: null,
  operations: new Map(),
  dispute: null,
};

export function operationName(kind: Kind, key: string): string {
  return `${kind} ${key}`;
}

const UNDER_WAY = { capture: "capturing", void: "voiding", refund: "refunding" } as const;

export function shown(state: PaymentState): Shown {
  const open = state.open === null ? undefined : state.operations.get(state.open);
  const status = open === undefined || open.kind === "authorize" ? state.status : UNDER_WAY[open.kind];
  return { status, captured: total(state, "capture"), refunded: total(state, "refund") };
}

export function total(state: PaymentState, kind: Kind): number {
  let sum = 0;
  for (const one of state.operations.values())
    if (one.kind === kind && one.is === "succeeded") sum += one.amount;
  return sum;
}

export function left(state: PaymentState): number {
  return total(state, "capture") - total(state, "refund");
}

export function withOperation(state: PaymentState, name: string, operation: Operation): PaymentState {
  return { ...state, operations: new Map(state.operations).set(name, operation) };
}

const names = new WeakMap<PaymentState, string>();

export function nameOfState(state: PaymentState): string {
  const known = names.get(state);
  if (known !== undefined) return known;
  const operations = [...state.operations].sort(([one], [other]) => (one < other ? -1 : 1));
  const name = JSON.stringify([state.status, state.amount, state.open, state.dispute, operations]);
  names.set(state, name);
  return name;
}

/** For people. */
export function describeState(state: PaymentState): string {
  if (state.status === "none") return "not there";
  const { status, captured, refunded } = shown(state);
  const operations = [...state.operations].map(([name, { is, amount }]) => `${name} of ${amount}: ${is}`);
  const totals = `captured ${captured}, refunded ${refunded}`;
  const disputes = state.dispute === null ? [] : [`dispute: ${state.dispute}`];
  return [`${status} (${totals})`, ...operations, ...disputes].join("; ");
}
