const DAY_MS = 86_400_000;

export interface WebhookLimits {
  /** Of one merchant. */
  readonly endpoints: number;
  /** Deliveries under way to one endpoint, from all instances. */
  readonly perEndpoint: number;
  /** Deliveries under way from this process. */
  readonly inAll: number;
  /** Deliveries to one endpoint that this process has in hand, so that it need not ask for each few of them. */
  readonly ahead: number;
  /** Deliveries in hand that wait for a place. */
  readonly aheadInAll: number;
  /** Events that are fanned out in one transaction. */
  readonly batch: number;
  /** How long a delivery is lent to this process: when it dies, others have it after so long. */
  readonly leaseMs: number;
  readonly renewMs: number;
  /** Between two rounds of work, so that many events and answers share the commits of one. The first is not kept waiting. */
  readonly roundMs: number;
  /** How long nothing is looked for, when nothing was heard. */
  readonly pollMs: number;
  /** How long settled deliveries can be looked at and repeated. */
  readonly keptMs: number;
  readonly tendMs: number;
  /** Events that one replay repeats. */
  readonly replay: number;
}

export const webhookLimits: WebhookLimits = {
  endpoints: 1_000,
  perEndpoint: 4,
  inAll: 64,
  ahead: 128,
  aheadInAll: 512,
  batch: 100,
  leaseMs: 6_000,
  renewMs: 2_000,
  roundMs: 50,
  pollMs: 1_000,
  keptMs: 30 * DAY_MS,
  tendMs: 60_000,
  replay: 10_000,
};

/** How long whoever stops waits for attempts that are under way. Others make them again. */
export const STOP_WITHIN_MS = 5_000;
