const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export interface HintLimits {
  /** Payments that one process asks about at a time because of hints. */
  readonly inAll: number;
  /** How long a hint is lent: when its process dies, others have it after so long. */
  readonly leaseMs: number;
  /** How long nothing is looked for, when nothing was heard. */
  readonly pollMs: number;
  /** Somebody is at the payment: how soon it is tried again, and for how long so often. */
  readonly busyMs: number;
  readonly busyForMs: number;
  /** When a hint is tried again that found no payment, or no answer; the last step is repeated. */
  readonly retryMs: readonly number[];
  /** After so long without a further event it is dropped. */
  readonly keptMs: number;
  readonly mostHints: number;
  /** How long the id of an event is known. Of a later copy nothing but a question to the gateway comes. */
  readonly seenMs: number;
  readonly tendMs: number;
  /** Ids that are forgotten at a time. */
  readonly batch: number;
}

export const hintLimits: HintLimits = {
  inAll: 8,
  leaseMs: 15 * SECOND_MS,
  pollMs: SECOND_MS,
  busyMs: 500,
  busyForMs: MINUTE_MS,
  retryMs: [SECOND_MS, 5 * SECOND_MS, 30 * SECOND_MS, 5 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS],
  keptMs: 30 * DAY_MS,
  mostHints: 100_000,
  seenMs: 7 * DAY_MS,
  tendMs: MINUTE_MS,
  batch: 10_000,
};

export interface CatchUpLimits {
  /** How often an instance looks whether it is time; that all of them together catch up so often is a setting. */
  readonly lookMs: number;
  /** Events do not appear in the order of their times: so much is read again. */
  readonly overlapMs: number;
  /** Where nobody has ever caught up. */
  readonly firstMs: number;
  readonly pageMs: number;
  /** Accounts whose lists are read at the same time. */
  readonly listsAtOnce: number;
}

export const catchUpLimits: CatchUpLimits = {
  lookMs: 10 * SECOND_MS,
  overlapMs: 10 * MINUTE_MS,
  firstMs: HOUR_MS,
  pageMs: 10 * SECOND_MS,
  listsAtOnce: 4,
};

/** How long whoever stops waits for questions that are under way. Others ask them again. */
export const STOP_WITHIN_MS = 5 * SECOND_MS;
