import { LockLostError } from "../../application/ports/lock-errors";
import type { LockHold, LockHolder } from "../../application/ports/lock-provider";

/** Where the lock itself can be lost: what the backend knows about this acquisition. */
export interface HeldTenure {
  readonly lost: AbortSignal;
  assertHeld(): void;
}

/** One caller's time inside. Also the link of the chain by which re-entry is recognized. */
export class Hold implements LockHold {
  declare readonly waitedFor?: LockHolder;
  private inside = true;
  private neverLost: AbortSignal | undefined;

  constructor(
    readonly lender: object,
    readonly resourceId: string,
    readonly fencingToken: bigint,
    readonly waitedMs: number,
    waitedFor: LockHolder | undefined,
    private readonly sinceMs: number,
    private readonly purpose: string | undefined,
    private readonly tenure: HeldTenure | undefined,
  ) {
    if (waitedFor !== undefined) this.waitedFor = waitedFor;
  }

  /** The section has not settled yet. */
  get isActive(): boolean {
    return this.inside;
  }

  get signal(): AbortSignal {
    // Made when somebody asks: most sections never do, and a controller costs more than an uncontended lock.
    return this.tenure?.lost ?? (this.neverLost ??= new AbortController().signal);
  }

  assertHeld(): void {
    if (!this.inside) throw new LockLostError(this.resourceId, "the section has ended");
    this.tenure?.assertHeld();
  }

  /** Calls back with the reason if the lock is lost; returns how to stop listening. */
  onLost(callback: (reason: string) => void): () => void {
    const lost = this.tenure?.lost;
    if (lost === undefined) return () => {};
    const listener = (): void => callback(String(lost.reason));
    if (lost.aborted) listener();
    else lost.addEventListener("abort", listener, { once: true });
    return () => lost.removeEventListener("abort", listener);
  }

  end(): void {
    this.inside = false;
  }

  /** What those who wait are told. */
  describe(): LockHolder {
    const since = new Date(this.sinceMs);
    return this.purpose === undefined ? { since } : { purpose: this.purpose, since };
  }
}
