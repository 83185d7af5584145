import { LockLostError } from "../../../application/ports/lock-errors";
import type { LockHappening } from "../../../application/ports/lock-observer";
import type { LockHold, LockHolder } from "../../../application/ports/lock-provider";
import type { Tenure } from "../lock-backend";

/** What a lender knows of the lock that it lends. */
export interface Loan {
  readonly lender: object;
  readonly resourceId: string;
  /** A number where the lender counts in numbers: a bigint costs a tenth of an uncontended lock, and few ask for it. */
  readonly fencingToken: bigint | number;
  /** Of a semaphore. */
  readonly slot?: number | undefined;
  /** On the wall clock. */
  readonly sinceMs: number;
  readonly purpose: string | undefined;
  /** The wait before it, if there was one. */
  readonly wait: { readonly waitedMs: number; readonly waitedFor: LockHolder | undefined } | undefined;
  /** Absent where the lock ends only with its process. */
  readonly tenure?: Pick<Tenure, "lost" | "assertHeld" | "aloneForMs" | "observe">;
}

/** One caller's time inside. Also the link of the chain by which re-entry is recognized. */
class Hold implements LockHold {
  declare readonly waitedFor?: LockHolder;
  declare readonly slot?: number;
  readonly waitedMs: number;
  /** The hold from inside of which this one was taken, if that is still active. */
  outer: Hold | undefined;
  private inside = true;
  /** Not there until they are asked for: with room for both in every hold, an uncontended lock costs a tenth more. */
  declare private neverLost?: AbortSignal;
  declare private description?: LockHolder;

  constructor(private readonly loan: Loan) {
    const { wait } = loan;
    this.waitedMs = wait === undefined ? 0 : wait.waitedMs;
    if (loan.slot !== undefined) this.slot = loan.slot;
    if (wait?.waitedFor !== undefined) this.waitedFor = wait.waitedFor;
  }

  get lender(): object {
    return this.loan.lender;
  }

  get resourceId(): string {
    return this.loan.resourceId;
  }

  get fencingToken(): bigint {
    return BigInt(this.loan.fencingToken);
  }

  /** The section has not settled yet. */
  get isActive(): boolean {
    return this.inside;
  }

  get signal(): AbortSignal {
    // Made when it is asked for: most sections never do, and a controller costs more than an uncontended lock.
    return this.loan.tenure?.lost ?? (this.neverLost ??= new AbortController().signal);
  }

  assertHeld(): void {
    if (!this.inside) throw new LockLostError(this.resourceId, "the section has ended");
    this.loan.tenure?.assertHeld();
  }

  aloneForMs(): number {
    return this.loan.tenure?.aloneForMs?.() ?? Infinity;
  }

  /** Tells what happens to the lock itself while this hold lasts; returns how to stop listening. */
  observe(tell: (happening: LockHappening) => void): () => void {
    const { tenure } = this.loan;
    if (tenure === undefined) return () => {};
    const { lost } = tenure;
    const onLost = (): void => tell({ type: "lost", reason: String(lost.reason) });
    if (lost.aborted) onLost();
    else lost.addEventListener("abort", onLost, { once: true });
    tenure.observe?.((happening) => {
      if (this.inside) tell(happening);
    });
    return () => lost.removeEventListener("abort", onLost);
  }

  end(): void {
    this.inside = false;
  }

  /** What those who wait are told. */
  describe(): LockHolder {
    const { purpose, sinceMs } = this.loan;
    return (this.description ??= { ...(purpose !== undefined && { purpose }), since: new Date(sinceMs) });
  }
}

export type { Hold };

/** Begins a hold. Whoever lends has to end it. */
export function lend(loan: Loan): Hold {
  return new Hold(loan);
}
