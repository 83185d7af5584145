import type { Mismatch, RecordedAnswer } from "../../../../application/ports/payment-gateway";
import type { Currency } from "../../../../domain/money";
import type { OperationKind } from "../../../../domain/payment/operation";

/** So many units, as they were sent: it moves what it is told to, and converts nothing. */
export interface LedgerAmount {
  readonly amount: bigint;
  readonly currency: Currency;
}

/**
 * What the simulated gateway remembers. Every adapter MUST
 * - let the works of one payment come out as if one ran after the other, in every process that shares the ledger. A work
 *   may be run again from its beginning, so it does nothing but look at the tables and write them;
 * - keep all that a work wrote, or, if it rejects, nothing of it;
 * - use a connection and transactions of its own: what a gateway did is not undone when its caller rolls back;
 * - have made durable, as far as it survives anything at all, what it resolved.
 */
export interface GatewayLedger {
  transaction<T>(
    paymentId: string,
    work: (tables: GatewayTables) => Promise<T>,
    looksAt?: LooksAt,
  ): Promise<T>;
  /**
   * Resolves when it takes writes. Absent where it cannot fail by itself: in memory, or in the store's own database, which
   * is asked already.
   */
  ping?(): Promise<void>;
  /** Payments with an entry that is due by then. */
  duePayments(now: Date): Promise<readonly string[]>;
  /** Over all payments. */
  totals(): Promise<MoveTotals>;
}

/** What a work is going to look at, for an adapter that would rather fetch it at once. It may look at other things, too. */
export interface LooksAt {
  readonly gatewayKey?: string;
  readonly operationId?: string;
  readonly authorizationReference?: string | null;
}

/** Only valid inside the work that it was given to, and awaited one call at a time. */
export interface GatewayTables {
  entry(gatewayKey: string): Promise<LedgerEntry | null>;
  putEntry(entry: LedgerEntry): Promise<void>;
  /** Whether any key of this operation ever arrived. */
  knowsOperation(operationId: string): Promise<boolean>;
  /** Entries of this payment that are due by then, the longest due first. */
  dueEntries(paymentId: string, now: Date): Promise<readonly LedgerEntry[]>;
  /** All of this payment, by their keys. */
  entries(paymentId: string): Promise<readonly LedgerEntry[]>;
  authorization(reference: string): Promise<LedgerAuthorization | null>;
  putAuthorization(authorization: LedgerAuthorization): Promise<void>;
  appendMove(move: GatewayMove): Promise<void>;
  /** In the order in which they happened. */
  moves(paymentId: string): Promise<readonly GatewayMove[]>;
}

export interface LedgerRequest {
  readonly gatewayKey: string;
  readonly operationId: string;
  readonly paymentId: string;
  readonly kind: OperationKind;
  readonly amount: LedgerAmount;
  /** Null for an authorize. */
  readonly authorizationReference: string | null;
  /** Null for everything but an authorize. */
  readonly paymentMethod: string | null;
  /** Null where no customer can be sent to a page: for everything but an authorize with a return URL. */
  readonly customerPage: LedgerCustomerPage | null;
}

/** `secret`: whoever has it may act in the customer's place. */
export interface LedgerCustomerPage {
  readonly returnUrl: string;
  readonly secret: string;
}

/** One idempotency key. */
export interface LedgerEntry extends LedgerRequest {
  readonly state: LedgerState;
}

/** When the entry's time comes; never, if it waits for none. */
export function dueAtMs({ state }: LedgerEntry): number {
  return "dueAt" in state ? state.dueAt.getTime() : Infinity;
}

export type LedgerState =
  /** It came, and nothing was recorded for it. */
  | { readonly is: "lost" }
  /** On its way: to whoever asks before then, the gateway has never heard of it. */
  | { readonly is: "in_flight"; readonly dueAt: Date }
  /** Accepted, and decided then. */
  | { readonly is: "deciding"; readonly dueAt: Date }
  /** Accepted, and refused then. */
  | { readonly is: "refusing"; readonly dueAt: Date }
  /** Accepted, and decided by the customer. */
  | { readonly is: "awaiting_customer" }
  /** Answers with the same 500 for ever. */
  | { readonly is: "broken" }
  | { readonly is: "recorded"; readonly answer: LedgerAnswer }
  /** A refund that is recorded as this, and fails then. */
  | { readonly is: "failing"; readonly answer: LedgerAnswer; readonly dueAt: Date };

/** What a key is answered with from then on. */
export type LedgerAnswer = RecordedAnswer | Required<Mismatch>;

export interface LedgerAuthorization {
  readonly reference: string;
  /** Null if it was made elsewhere. */
  readonly paymentId: string | null;
  readonly amount: LedgerAmount;
  readonly paymentMethod: string;
  readonly status: "awaiting_customer" | "open" | "captured" | "voided" | "gone";
  /** Still held on the customer's card. */
  readonly reserved: bigint;
  /** Sum of all captures: more than `amount` if somebody captured twice. */
  readonly captured: bigint;
  readonly refunded: bigint;
}

/** Money moved. */
export interface GatewayMove {
  readonly paymentId: string;
  readonly kind: OperationKind;
  readonly gatewayKey: string;
  readonly amount: LedgerAmount;
  readonly at: Date;
}

/** How often, and how many minor units whatever their currency. */
export type MoveTotals = Readonly<
  Record<OperationKind, { readonly count: number; readonly minorUnits: bigint }>
>;
