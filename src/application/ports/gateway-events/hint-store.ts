import type { PaymentId } from "../../../domain/identifiers";
import type { GatewayHint } from "./gateway-hint";

/**
 * Keeps which authorizations there may be news of, until the gateway was asked about them. Every adapter MUST
 * - take an event of an account once, by its id, for as long as it remembers the id;
 * - keep one hint for an authorization of an account, however many events are about it, due at once whenever there is a new
 *   one; what is told of one account changes nothing of another's;
 * - keep a hint that was renewed while somebody worked on it: what they have seen may be older than the event;
 * - lend a hint to one owner at a time, for as long as the loan lasts by the store's own clock;
 * - let one of several instances begin to catch up, and no other before the interval is over;
 * - have made durable what it acknowledged;
 * - reject with `StoreUnavailableError` when it cannot tell or cannot write, with nothing half-written.
 */
export interface HintStore {
  /** Resolves with how many of the events are new. */
  receive(hints: readonly GatewayHint[], now: Date): Promise<number>;

  claim(wish: HintClaim): Promise<readonly ClaimedHint[]>;
  /** Drops the hint, or has it tried again then. One that was renewed meanwhile stays, due at once; without a loan nothing happens. */
  settle(owner: string, hint: ClaimedHint, next: NextTry | null): Promise<void>;

  /** Forgets ids of events, so many at a time; and the oldest hints beyond so many. Resolves with how many hints were dropped. */
  tend(work: HintTending): Promise<number>;
  /** Hints that are kept, and since when the oldest of them. */
  backlog(): Promise<{ readonly waiting: number; readonly oldestAt: Date | null }>;

  /** Null if it is not time yet, or another instance was first. */
  beginCatchUp(now: Date, everyMs: number): Promise<CatchUpBegun | null>;
  /** Where the list of an account was read to, by the gateway's clock; null before the first time. */
  caughtUpTo(account: string): Promise<Date | null>;
  /** All events of an account up to here were received; left out: of the common one. An earlier time changes nothing. */
  caughtUp(to: Date, account?: string): Promise<void>;
}

export interface HintClaim {
  readonly owner: string;
  readonly leaseMs: number;
  /** What is due by then. */
  readonly now: Date;
  readonly limit: number;
}

export interface ClaimedHint {
  /** Left out: the common one. */
  readonly account?: string;
  readonly reference: string;
  readonly labelled: PaymentId | null;
  /** Counts its events. */
  readonly revision: number;
  /** Of the last event. */
  readonly receivedAt: Date;
  readonly attempts: number;
}

export interface NextTry {
  readonly dueAt: Date;
  readonly attempts: number;
}

export interface HintTending {
  readonly seenBefore: Date;
  readonly mostHints: number;
  readonly limit: number;
}

export interface CatchUpBegun {
  /** Of the common account, by the gateway's clock; null before the first time. */
  readonly caughtUpTo: Date | null;
}
