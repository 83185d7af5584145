import type { PaymentId } from "../../domain/identifiers";
import { LockContentionError, LockTimeoutError } from "../ports/lock-errors";
import { inParallel } from "./in-parallel";

/** What one pass over many payments did. */
export interface PassReport {
  readonly done: number;
  /** Another request was at the payment: good news. */
  readonly skipped: number;
  /** Tried and failed; the next pass tries again. */
  readonly failed: number;
}

/** How many payments one pass works on at a time, so that a slow gateway does not make the queue endless. */
const PASS_PARALLELISM = 8;
/** How many are read from the store at a time. */
const PASS_PAGE = 100;

/** How background work asks for a payment's lock: once, whatever wait is configured. */
export const WITHOUT_WAITING = {
  lockTimeout: { timeout: 0, source: "background work, which never waits" },
} as const;

export interface Pass<Item extends { readonly paymentId: PaymentId }> {
  /** What is to be worked on, after the given one. */
  readonly page: (limit: number, after: Item | undefined) => Promise<readonly Item[]>;
  /** Says whether there was anything to do. */
  readonly work: (item: Item) => Promise<boolean>;
  readonly onError: (error: unknown, paymentId: PaymentId) => void;
}

/** Works on each item once, page by page, until there are no more or the signal fires. Rejects only if a page does. */
export async function runPass<Item extends { readonly paymentId: PaymentId }>(
  pass: Pass<Item>,
  signal?: AbortSignal,
): Promise<PassReport> {
  const report = { done: 0, skipped: 0, failed: 0 };
  let after: Item | undefined;
  do {
    const items = await pass.page(PASS_PAGE, after);
    await inParallel(items, PASS_PARALLELISM, async (item) => {
      if (signal?.aborted === true) return;
      const result = await attempt(pass, item);
      if (result !== "nothing to do") report[result] += 1;
    });
    after = items.length === PASS_PAGE ? items.at(-1) : undefined;
  } while (after !== undefined && signal?.aborted !== true);
  return report;
}

async function attempt<Item extends { readonly paymentId: PaymentId }>(
  { work, onError }: Pass<Item>,
  item: Item,
): Promise<keyof PassReport | "nothing to do"> {
  try {
    return (await work(item)) ? "done" : "nothing to do";
  } catch (error) {
    if (error instanceof LockTimeoutError || error instanceof LockContentionError) return "skipped";
    onError(error, item.paymentId);
    return "failed";
  }
}
