type BudgetName =
  | "findMs"
  | "sendMs"
  | "savesMs"
  | "readMs"
  | "listMs"
  | "lockWaitMs"
  | "httpMs"
  | "leaseMs"
  | "renewMs"
  | "endingMs";

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
  /** Default wait for a payment's lock. */
  lockWaitMs: 10_000,
  /** One HTTP request, waiting included. */
  httpMs: 30_000,
  /** A lease, and how often it is renewed. */
  leaseMs: 30_000,
  renewMs: 10_000,
  /** What a command is given to end by itself when its lock is in danger or lost. */
  endingMs: 5_000,
};

/** What one hold can take: at most one find and one money call. A lock budget below this gives up on healthy holders. */
export const longestHoldMs = budgets.findMs + budgets.sendMs + budgets.savesMs;

/** The order that the guarantees rest on. Checked at start, so that nobody edits one number alone. */
export function assertBudgets(): void {
  const inOrder =
    longestHoldMs < budgets.lockWaitMs &&
    budgets.lockWaitMs < budgets.httpMs &&
    longestHoldMs < budgets.leaseMs &&
    // A command is not asked to end before the second renewal has failed, too.
    budgets.renewMs * 2 + budgets.endingMs <= budgets.leaseMs;
  if (!inOrder)
    throw new Error("the built-in time budgets are out of order: see application/operations/budgets.ts");
}
