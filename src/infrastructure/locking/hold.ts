import { LockLostError } from "../../application/ports/lock-errors";
import type { LockHappening } from "../../application/ports/lock-observer";
import type { LockHold, LockHolder } from "../../application/ports/lock-provider";

import type { Tenure } from "./lock-backend";

/** One caller's time inside. Also the link of the chain by which re-entry is recognized. */
export class Hold implements LockHold {
  declare readonly waitedFor?: LockHolder;
  /** The hold from inside of which this one was taken, if that is still active. */
  outer: Hold | undefined;
  private inside = true;
  private neverLost: AbortSignal | undefined;
  private description: LockHolder | undefined;

  constructor(
    readonly lender: object,
    readonly resourceId: string,
    private readonly token: bigint | number,
    readonly waitedMs: number,
    waitedFor: LockHolder | undefined,
    private readonly sinceMs: number,
    private readonly purpose: string | undefined,
    private readonly tenure: Pick<Tenure, "lost" | "assertHeld" | "aloneForMs" | "observe"> | undefined,
  ) {
    if (waitedFor !== undefined) this.waitedFor = waitedFor;
  }

  /** Made of a number when somebody asks: few do, and a bigint costs a tenth of an uncontended lock. */
  get fencingToken(): bigint {
    return BigInt(this.token);
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

  aloneForMs(): number {
    return this.tenure?.aloneForMs?.() ?? Infinity;
  }

  /** Tells what happens to the lock itself while this hold lasts; returns how to stop listening. */
  observe(tell: (happening: LockHappening) => void): () => void {
    if (this.tenure === undefined) return () => {};
    const { lost } = this.tenure;
    const onLost = (): void => tell({ type: "lost", reason: String(lost.reason) });
    if (lost.aborted) onLost();
    else lost.addEventListener("abort", onLost, { once: true });
    this.tenure.observe?.((happening) => {
      if (this.inside) tell(happening);
    });
    return () => lost.removeEventListener("abort", onLost);
  }

  end(): void {
    this.inside = false;
  }

  /** What those who wait are told. */
  describe(): LockHolder {
    return (this.description ??= {
      ...(this.purpose !== undefined && { purpose: this.purpose }),
      since: new Date(this.sinceMs),
    });
  }
}
