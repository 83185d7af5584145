import { AsyncLocalStorage } from "node:async_hooks";
import { LockReentrancyError } from "../../application/ports/lock-errors";
import type { LockOptions } from "../../application/ports/lock-provider";
import type { Hold } from "./hold";

interface Nesting {
  readonly hold: Hold;
  readonly outer: Nesting | undefined;
}

const nestings = new AsyncLocalStorage<Nesting>();

/** Refuses what could only deadlock: taking an id from inside a still active hold of the same lender. */
export function refuseReentry(lender: object, resourceId: string, options: LockOptions): void {
  let at = activeNesting();
  if (at === undefined) return;
  const held: string[] = [];
  for (; at !== undefined; at = at.outer) {
    const { hold } = at;
    if (hold.lender !== lender || !hold.isActive) continue;
    if (options.alongside?.holds.has(hold.resourceId) !== true) held.push(hold.resourceId);
  }
  if (held.length > 0) throw new LockReentrancyError(resourceId, held.reverse());
}

/** Runs the section so that everything it starts, awaited or not, is known to come from inside this hold. */
export function runInside<T>(hold: Hold, criticalSection: (hold: Hold) => Promise<T>): Promise<T> {
  return nestings.run({ hold, outer: activeNesting() }, criticalSection, hold);
}

/** Ended holds are dropped, so that work which outlives its section and locks again does not drag a growing chain. */
function activeNesting(): Nesting | undefined {
  let at = nestings.getStore();
  while (at !== undefined && !at.hold.isActive) at = at.outer;
  return at;
}
