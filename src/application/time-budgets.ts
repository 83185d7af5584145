type BudgetName =
  "findMs" | "sendMs" | "savesMs" | "readMs" | "listMs" | "lockWaitMs" | "httpMs" | "leaseMs" | "endingMs";

/** How long each part of an operation may take. Every wait in the hot path has one of these bounds. */
export const budgets: Readonly<Record<BudgetName, number>> = {
  /** One `find` at the gateway. */
  findMs: 2_000,
  /** One money call at the gateway. */
  sendMs: 6_000,
  /** One write to the store: an intent, a claim, a verdict; and all tries to store what the gateway answered. */
  savesMs: 1_000,
  /** One read of a payment, an operation or a key. */
  readMs: 2_000,
  /** One read of many. */
  listMs: 4_000,
  /** Default wait for a payment's lock: longer than one pass through the gateway, shorter than an HTTP request. */
  lockWaitMs: 10_000,
  /** One HTTP request, waiting included. */
  httpMs: 30_000,
  /** A lease, unless another length is chosen. */
  leaseMs: 30_000,
  /** What a command is given to end by itself when its lock is in danger or lost. */
  endingMs: 5_000,
};

/** How often a lease is renewed while it lasts. */
export const RENEWALS_PER_LEASE = 3;

/** What one hold can take: at most one find and one money call. A lock budget below this gives up on healthy holders. */
export const longestHoldMs = holdMs(budgets);

/** The order that the guarantees rest on. Checked at start, so that nobody edits one number alone. */
export function assertBudgets(checked = budgets): void {
  const { lockWaitMs, httpMs, leaseMs, endingMs } = checked;
  const inOrder =
    holdMs(checked) < lockWaitMs &&
    lockWaitMs < httpMs &&
    holdMs(checked) < leaseMs &&
    // A command is not asked to end before the second renewal has failed, too.
    (leaseMs / RENEWALS_PER_LEASE) * 2 + endingMs <= leaseMs;
  if (!inOrder)
    throw new Error("the built-in time budgets are out of order: see application/time-budgets.ts");
}

function holdMs({ findMs, sendMs, savesMs }: typeof budgets): number {
  return findMs + sendMs + savesMs;
}
