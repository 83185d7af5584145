import type { LockHold } from "../ports/lock-provider";

/** What a section may know about the locks that it is inside of: one hold by each id, and what is true of them together. */
export class LockHolds extends Map<string, LockHold> {
  private loss: AbortController | undefined;

  /** Fires as soon as one of the locks is lost; its reason names that one. */
  get signal(): AbortSignal {
    return (this.loss ??= this.listen()).signal;
  }

  /** Throws `LockLostError` unless all of them are held now. */
  assertHeld(): void {
    for (const hold of this.values()) hold.assertHeld();
  }

  /** For how long from now no other caller is let into any of them. */
  aloneForMs(): number {
    return Math.min(...[...this.values()].map((hold) => hold.aloneForMs()));
  }

  /** Made when it is asked for, which the section does: all locks are had by then. */
  private listen(): AbortController {
    const loss = new AbortController();
    for (const [resourceId, { signal }] of this) {
      const lose = (): void => loss.abort(`${resourceId}: ${String(signal.reason)}`);
      if (signal.aborted) lose();
      else signal.addEventListener("abort", lose, { once: true });
    }
    return loss;
  }
}
