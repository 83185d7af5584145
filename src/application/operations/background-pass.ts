import { paymentResourceId, type PaymentId } from "../../domain/identifiers";
import { LockContentionError, LockTimeoutError } from "../ports/lock-errors";
import type { LockHold, LockProvider } from "../ports/lock-provider";

/** What one pass over many payments did. */
export interface PassReport {
  readonly done: number;
  /** Somebody was inside: good news, they are at it. */
  readonly skipped: number;
  /** Tried and failed; the next pass tries again. */
  readonly failed: number;
}

/** How many payments one pass works on at a time, so that a slow gateway does not make the queue endless. */
export const PASS_PARALLELISM = 8;
/** How many are read from the store at a time. */
export const PASS_PAGE = 100;

export class PassCounter {
  private done = 0;
  private skipped = 0;
  private failed = 0;

  constructor(
    private readonly locks: LockProvider,
    private readonly purpose: string,
    private readonly onError: (error: unknown, paymentId: PaymentId) => void,
  ) {}

  /** Tries the payment's lock once, whatever wait is configured. Never rejects. `work` says whether it did anything. */
  async attempt(paymentId: PaymentId, work: (hold: LockHold) => Promise<boolean>): Promise<void> {
    try {
      const did = await this.locks.withLock(paymentResourceId(paymentId), work, {
        scope: "payment",
        purpose: this.purpose,
        timeout: { timeout: 0, source: "background work, which never waits" },
      });
      if (did) this.done += 1;
    } catch (error) {
      if (error instanceof LockTimeoutError || error instanceof LockContentionError) {
        this.skipped += 1;
      } else {
        this.failed += 1;
        this.onError(error, paymentId);
      }
    }
  }

  report(): PassReport {
    return { done: this.done, skipped: this.skipped, failed: this.failed };
  }
}
