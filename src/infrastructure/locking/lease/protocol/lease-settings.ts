import { budgets } from "../../../../application/time-budgets";

export interface LeaseSettings {
  /** How long a lease lasts without a renewal. Renewed every third of it. */
  readonly ttlMs: number;
  /** How much longer than its ttl others let a silent owner be: clock drift, and stores that tell time in whole seconds. */
  readonly marginMs: number;
  /** How often a held hand-off lock looks whether somebody waits. */
  readonly waiterCheckMs: number;
  /** The longest pause between two looks of a waiter. */
  readonly waiterPollMs: number;
  readonly waiterRenewMs: number;
  /** How long a waiter may be silent before others take its place. */
  readonly waiterTtlMs: number;
  /** How long a freed lock is kept for its registered waiter. */
  readonly yieldMs: number;
  /** How long another implementation's record must stand still before its expiry is believed. */
  readonly foreignQuietMs: number;
  /** How long a request may go unanswered before it counts as lost. */
  readonly requestTimeoutMs: number;
  /** How long `close` goes on giving back what is held; what is not confirmed by then ends by its lease. */
  readonly closeMs: number;
  /** How many ids a process remembers sightings of; beyond it the one least recently seen is forgotten. */
  readonly rememberedIds: number;
}

const SMALLEST_TTL_MS = 1_000;
const SMALLEST_MARGIN_MS = 2_000;

/**
 * Two monotonic clocks that drift apart by 1 % each need 2.02 % of the ttl between the owner's end and the others'
 * beginning; 3 % leaves room for the rounding of ages.
 */
const DRIFT_SHARE = 0.03;

const DEFAULTS: LeaseSettings = {
  ttlMs: budgets.leaseMs,
  marginMs: SMALLEST_MARGIN_MS,
  waiterCheckMs: 2_000,
  waiterPollMs: 1_000,
  waiterRenewMs: 10_000,
  waiterTtlMs: 30_000,
  yieldMs: 5_000,
  foreignQuietMs: 60_000,
  requestTimeoutMs: 5_000,
  closeMs: 5_000,
  rememberedIds: 10_000,
};

/** Fills in the defaults, and throws a `RangeError` for what would undermine the protocol. */
export function leaseSettings(chosen: Partial<LeaseSettings> = {}): LeaseSettings {
  const ttlMs = chosen.ttlMs ?? DEFAULTS.ttlMs;
  const settings: LeaseSettings = {
    ...DEFAULTS,
    // Four unanswered renewals must fit between the first renewal and the end of the lease.
    requestTimeoutMs: Math.min(DEFAULTS.requestTimeoutMs, Math.floor(ttlMs / 6)),
    ...chosen,
  };
  for (const [name, value] of Object.entries(settings)) {
    if (!Number.isSafeInteger(value) || value <= 0)
      throw new RangeError(`${name} must be a whole number above 0`);
  }
  if (settings.ttlMs < SMALLEST_TTL_MS) throw new RangeError(`ttlMs must be at least ${SMALLEST_TTL_MS}`);
  if (settings.marginMs < SMALLEST_MARGIN_MS)
    throw new RangeError(`marginMs must be at least ${SMALLEST_MARGIN_MS}`);
  return settings;
}

/** The silence after which an owner with this ttl (its own, from its record) counts as dead. */
export function deadlySilenceMs(ttlMs: number, settings: LeaseSettings): number {
  return ttlMs + Math.max(settings.marginMs, Math.ceil(ttlMs * DRIFT_SHARE));
}
