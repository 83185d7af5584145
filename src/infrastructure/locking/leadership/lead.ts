import { acquireLock, type HeldLock } from "../../../application/locking/acquire-lock";
import { budgets } from "../../../application/time-budgets";
import { LockCancelledError, LockLostError } from "../../../application/ports/lock-errors";
import type { LockOptions, LockProvider } from "../../../application/ports/lock-provider";
import { onAbort } from "../line/cancellation";
import { systemLockClock, type LockClock } from "../lock-clock";
import { Leadership } from "./leadership";
import { boundedCheck, watchHealth, watchSignal, watchTimeLeft, type Watch } from "./watches";

/** What becomes of a candidate. */
export type LeadershipChange =
  | { readonly is: "elected"; readonly fencingToken: bigint }
  /** The work was told to end. */
  | { readonly is: "stepping down"; readonly reason: string }
  /** The work has ended, and the lock is given back. */
  | { readonly is: "over" }
  /** Stands for no election for that long. */
  | { readonly is: "pausing"; readonly forMs: number };

export interface LeadOptions extends Pick<LockOptions, "scope" | "purpose" | "observer"> {
  /** Ends it: the candidate stands for no further election, and a leader steps down. */
  readonly signal?: AbortSignal;
  /** What the work is given to end before another leader can begin; default 5 s. A lease must be longer by two renewals. */
  readonly endingMs?: number;
  /** Asked before each election and during each leadership. A no, an error and silence make a leader step down. */
  readonly isHealthy?: () => boolean | PromiseLike<boolean>;
  /** From one answer to the next question, and how long one answer may take; default 5 s. */
  readonly healthEveryMs?: number;
  readonly onChange?: (change: LeadershipChange) => void;
  readonly clock?: LockClock;
  /** Spreads the pauses between elections: 0 ≤ x < 1. */
  readonly random?: () => number;
}

const HEALTH_EVERY_MS = 5_000;
const PAUSE_MS = { shortest: 1_000, longest: 30_000 };

/**
 * Stands for election to `resourceId` until it is stopped. Elected, it runs `work`, which has to end when
 * `leadership.signal` fires: `endingMs` before another leader can begin, where the lock's end is known ahead, and at once
 * where the lock was taken away. Afterwards it stands again, after a pause that grows while leaderships are short.
 *
 * Resolves when it was stopped, or when the work ended by itself; rejects with the work's own error, and when the lock can
 * never be had (`LockUnavailableError`). The work runs in no section: it may take other locks of the same provider.
 */
export async function lead(
  locks: LockProvider,
  resourceId: string,
  work: (leadership: Leadership) => void | PromiseLike<void>,
  options: LeadOptions = {},
): Promise<void> {
  await new Candidate(locks, resourceId, work, options).stand();
}

class Candidate {
  private readonly clock: LockClock;
  private readonly endingMs: number;
  private readonly healthEveryMs: number;
  private readonly isHealthy: () => Promise<boolean>;
  private pauseMs = PAUSE_MS.shortest;

  constructor(
    private readonly locks: LockProvider,
    private readonly resourceId: string,
    private readonly work: (leadership: Leadership) => void | PromiseLike<void>,
    private readonly options: LeadOptions,
  ) {
    const { endingMs = budgets.endingMs, healthEveryMs = HEALTH_EVERY_MS, clock = systemLockClock } = options;
    for (const [name, ms] of Object.entries({ endingMs, healthEveryMs }))
      if (!(ms > 0 && ms < Infinity)) throw new RangeError(`${name} is ${ms}: it takes milliseconds above 0`);
    this.clock = clock;
    this.endingMs = endingMs;
    this.healthEveryMs = healthEveryMs;
    this.isHealthy = boundedCheck(options.isHealthy, healthEveryMs, clock);
  }

  async stand(): Promise<void> {
    while (!this.isStopped()) {
      const hasEnded = (await this.isHealthy()) && (await this.runForOffice());
      if (hasEnded || this.isStopped()) return;
      await this.pause();
    }
  }

  /** True when there is nothing left to stand for. */
  private async runForOffice(): Promise<boolean> {
    const { scope, purpose, observer, signal } = this.options;
    let lock: HeldLock;
    try {
      lock = await acquireLock(this.locks, this.resourceId, {
        timeout: "infinite",
        release: "await",
        ...(scope !== undefined && { scope }),
        ...(purpose !== undefined && { purpose }),
        ...(observer !== undefined && { observer }),
        ...(signal !== undefined && { signal }),
      });
    } catch (error) {
      if (error instanceof LockCancelledError) return true;
      throw error;
    }
    const electedMs = this.clock.monotonicMs();
    try {
      return await this.lead(lock);
    } finally {
      await lock.release();
      this.tell({ is: "over" });
      if (this.clock.monotonicMs() - electedMs > PAUSE_MS.longest) this.pauseMs = PAUSE_MS.shortest;
    }
  }

  private async lead(lock: HeldLock): Promise<boolean> {
    const leadership = new Leadership(lock);
    // It may have waited for long, and a check that hangs is not to begin what it could not end.
    if (!(await this.isHealthy())) return false;
    const { signal } = leadership;
    signal.addEventListener("abort", () => this.tell({ is: "stepping down", reason: String(signal.reason) }));
    const stopWatching = this.watches(lock).map((watch) => watch((reason) => leadership.stepDown(reason)));
    try {
      if (signal.aborted) return false;
      this.tell({ is: "elected", fencingToken: lock.fencingToken });
      await this.work(leadership);
    } catch (error) {
      // After a stall, the work may see the loss before the signal does.
      if (error instanceof LockLostError && error.resourceId === this.resourceId)
        leadership.stepDown(`the lock is lost: ${error.reason}`);
      else if (!signal.aborted || !isAbort(error, signal)) throw error;
    } finally {
      for (const stop of stopWatching) stop();
    }
    return !signal.aborted;
  }

  private watches(lock: HeldLock): readonly Watch[] {
    const { signal, isHealthy } = this.options;
    return [
      watchSignal(lock.signal, (reason) => `the lock is lost: ${String(reason)}`),
      watchTimeLeft(lock, this.endingMs, this.clock),
      ...(signal === undefined ? [] : [watchSignal(signal, () => "it was stopped")]),
      ...(isHealthy === undefined ? [] : [watchHealth(this.isHealthy, this.healthEveryMs, this.clock)]),
    ];
  }

  /** Others are to be elected meanwhile, and candidates that fail together are not to come back together. */
  private pause(): Promise<void> {
    const { random = Math.random, signal } = this.options;
    const forMs = Math.round(this.pauseMs * (0.5 + random() / 2));
    this.pauseMs = Math.min(2 * this.pauseMs, PAUSE_MS.longest);
    this.tell({ is: "pausing", forMs });
    return new Promise((resolve) => {
      const stopListening = signal && onAbort(signal, () => over());
      const cancel = this.clock.after(forMs, () => over());
      const over = (): void => {
        cancel();
        stopListening?.();
        resolve();
      };
    });
  }

  private isStopped(): boolean {
    return this.options.signal?.aborted === true;
  }

  private tell(change: LeadershipChange): void {
    try {
      this.options.onChange?.(change);
    } catch {
      // Whoever watches decides nothing, as an observer of locks.
    }
  }
}

/** The work's way to say that it ended as it was told to; any other error is its own. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error as { readonly name?: unknown } | null)?.name === "AbortError";
}
