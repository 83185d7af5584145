import type { Model } from "../search/span";
import { answerFits } from "./answer-fits";
import { decided } from "./decided";
import { isPast } from "./is-past";
import { objection } from "./objection";
import type { GatewayBehaviour } from "./gateway-behaviour";
import type { Kind, Movement, PaymentCall, Verdict } from "./payment-call";
import {
  disputeStatuses,
  left,
  nameOfState,
  noPayment,
  operationName,
  shown,
  total,
  withOperation,
  type Operation,
  type PaymentState,
} from "./payment-state";

/** What may happen to a payment at one moment. A request has several: its intent is one, its answer another. */
export type Moment =
  /** The intent of a movement is stored. */
  | { readonly does: "begin"; readonly movement: Movement }
  /** It turned out that nothing of it was sent; only the request that stored the intent can know that. */
  | { readonly does: "not sent"; readonly movement: Movement; readonly isBound: boolean }
  /** What the answer says was true. */
  | { readonly does: "answer"; readonly call: PaymentCall }
  /** The authorization's time was over, and a request found out. */
  | { readonly does: "lapse" }
  /** A person's decision is written down. */
  | { readonly does: "decide"; readonly verdict: Verdict }
  /** A movement that others made at the gateway was seen. */
  | { readonly does: "others"; readonly kind: Kind };

export interface OfPayment {
  /** Null if no client knows it. */
  readonly id: string | null;
  readonly gateway: GatewayBehaviour;
  /** Whether an operation's success was told; only of those it matters what the payment was then. */
  readonly isTold: (operation: string) => boolean;
  /** The id under which callers were shown an operation. */
  readonly idOf: (operation: string) => string | undefined;
  /** A person may decide that what has ended has ended otherwise. */
  readonly mayGoBack: boolean;
}

/** One payment at a gateway with this behaviour. */
export function paymentModel(of: OfPayment): Model<PaymentState, Moment> {
  const { id, gateway, isTold } = of;
  return {
    initial: noPayment,
    nameOf: nameOfState,
    apply(state, moment) {
      switch (moment.does) {
        case "begin":
          return begun(state, moment.movement, isTold);
        case "not sent":
          return notSent(state, moment.movement, moment.isBound);
        case "answer":
          return answerFits(state, moment.call, id) ? [state] : [];
        case "lapse":
          return lapsed(state);
        case "decide":
          return decided(state, moment.verdict, of);
        case "others":
          return byOthers(state, moment.kind);
      }
    },
    onItsOwn: (state) => [
      ...settled(state, gateway, isTold),
      ...takenBack(state, gateway),
      ...disputed(state, gateway),
    ],
    isPast: (state, look) =>
      look.does === "answer" && !gateway.takesRefundsBack && !of.mayGoBack && isPast(state, look.call),
  };
}

/** An operation begins if no other one is open, the key is free, and the table of its kind has no objection. */
function begun(
  state: PaymentState,
  movement: Movement,
  isTold: (operation: string) => boolean,
): PaymentState[] {
  const name = operationName(movement.kind, movement.key);
  const known = state.operations.get(name);
  if (state.open !== null || (known !== undefined && known.is !== "not sent")) return [];
  if (known !== undefined && known.content !== movement.content) return [];
  if (objection(state, movement, known) !== null) return [];
  if (movement.imports !== null) return [imported(state, movement, movement.imports, isTold(name))];
  const amount = known?.amount ?? movement.amount ?? amountOfAll(state, movement.kind);
  const operation: Operation = {
    kind: movement.kind,
    amount,
    content: movement.content,
    is: "open",
    told: null,
  };
  const facts =
    movement.kind === "authorize"
      ? { status: "authorizing" as const, amount, currency: movement.currency ?? "" }
      : {};
  return [{ ...withOperation(state, name, operation), ...facts, open: name }];
}

/** Nothing is sent, so nothing is open. */
function imported(
  state: PaymentState,
  { kind, key, content }: Movement,
  { amount, currency }: NonNullable<Movement["imports"]>,
  isTold: boolean,
): PaymentState {
  const told = isTold ? { status: "authorized", captured: 0, refunded: 0 } : null;
  const operation: Operation = { kind, amount, content, is: "succeeded", told, imported: true };
  return {
    ...withOperation(state, operationName(kind, key), operation),
    status: "authorized",
    amount,
    currency,
  };
}

function amountOfAll(state: PaymentState, kind: Kind): number {
  return kind === "refund" ? left(state) : state.amount;
}

function notSent(state: PaymentState, { kind, key }: Movement, isBound: boolean): PaymentState[] {
  const name = operationName(kind, key);
  if (state.open !== name) return [];
  if (isBound || kind === "authorize")
    return [
      { ...withOperation(state, name, { ...state.operations.get(name)!, is: "not sent" }), open: null },
    ];
  const operations = new Map(state.operations);
  operations.delete(name);
  return [{ ...state, operations, open: null }];
}

const AFTER = { authorize: "authorized", capture: "captured", void: "voided", refund: "captured" } as const;

/** The open operation ends as the gateway can have decided. */
function settled(
  state: PaymentState,
  gateway: GatewayBehaviour,
  isTold: (operation: string) => boolean,
): PaymentState[] {
  const { open } = state;
  if (open === null) return [];
  const operation = state.operations.get(open)!;
  const { kind } = operation;
  const end = (is: Operation["is"], status: PaymentState["status"]): PaymentState => {
    const ended = { ...withOperation(state, open, { ...operation, is }), open: null, status };
    return withOperation(ended, open, { ...operation, is, told: isTold(open) ? shown(ended) : null });
  };
  const ends = [end("succeeded", AFTER[kind])];
  if (gateway.declines.includes(kind))
    ends.push(end("declined", kind === "authorize" ? "declined" : state.status));
  if (gateway.hasLetGo.includes(kind)) ends.push(end("gone", "expired"));
  // The gateway took it back before anybody here had heard that it had succeeded.
  if (gateway.takesRefundsBack && kind === "refund") ends.push(untold(end("taken back", state.status), open));
  return ends;
}

function untold(state: PaymentState, name: string): PaymentState {
  return withOperation(state, name, { ...state.operations.get(name)!, told: null });
}

function takenBack(state: PaymentState, gateway: GatewayBehaviour): PaymentState[] {
  if (!gateway.takesRefundsBack) return [];
  return [...state.operations]
    .filter(([, { kind, is }]) => kind === "refund" && is === "succeeded")
    .map(([name, operation]) => withOperation(state, name, { ...operation, is: "taken back" }));
}

/** A dispute changes no total. */
function disputed(state: PaymentState, gateway: GatewayBehaviour): PaymentState[] {
  if (!gateway.disputes || state.status !== "captured") return [];
  const next = disputeStatuses[state.dispute === null ? 0 : disputeStatuses.indexOf(state.dispute) + 1];
  return next === undefined ? [] : [{ ...state, dispute: next }];
}

/** The time of an authorization is over for what has not begun. */
function lapsed(state: PaymentState): PaymentState[] {
  const canLapse = state.status === "authorized" || state.status === "authorizing";
  return canLapse && state.open === null ? [{ ...state, status: "expired" }] : [];
}

/**
 * Seen at the gateway, whatever of ours is open: a void of what others have taken, and a capture of what they have let go, end
 * there. A capture of ours goes before a person first.
 */
function byOthers(state: PaymentState, kind: Kind): PaymentState[] {
  const name = operationName(kind, "(others)");
  if (state.operations.has(name)) return [];
  const open = state.open === null ? undefined : state.operations.get(state.open);
  if (kind === "refund") {
    if (state.status !== "captured") return [];
    const half = total(state, "capture") / 2;
    return [...new Set([Math.floor(half), Math.ceil(half)])]
      .filter((amount) => amount <= left(state))
      .map((amount) => withOperation(state, name, othersOperation(kind, amount)));
  }
  if (open !== undefined && open.kind !== ENDED_BY_OTHERS[kind as "capture" | "void"]) return [];
  const canCapture = kind === "capture" && state.status === "expired";
  if (state.status !== "authorized" && !canCapture) return [];
  const ended = open === undefined ? state : withOperation(state, state.open!, { ...open, is: "declined" });
  const made = withOperation(ended, name, othersOperation(kind, state.amount));
  return [{ ...made, open: null, status: AFTER[kind] }];
}

/** What of ours is no more, once others have made a movement. */
const ENDED_BY_OTHERS = { capture: "void", void: "capture" } as const;

function othersOperation(kind: Kind, amount: number): Operation {
  return { kind, amount, content: "", is: "succeeded", told: null, byOthers: true };
}
