import { AsyncLocalStorage } from "node:async_hooks";
import { LockReentrancyError } from "../../../application/ports/lock-errors";
import type { LockOptions } from "../../../application/ports/lock-provider";
import type { Hold } from "./lend";

/** Of all lenders: a section of one may take from another, and back again is still re-entry. */
const innermost = new AsyncLocalStorage<Hold | undefined>();

/**
 * Refuses what could only deadlock: taking an id from inside a still active hold of the same lender. Returns the hold that
 * the caller is inside of, for `runInside`: the async context is the same after a wait, and looking into it costs.
 */
export function refuseReentry(lender: object, resourceId: string, options: LockOptions): Hold | undefined {
  const outer = innermost.getStore();
  if (outer !== undefined) refuseHeld(outer, lender, resourceId, options);
  return outer;
}

function refuseHeld(outer: Hold, lender: object, resourceId: string, options: LockOptions): void {
  const held: string[] = [];
  for (let hold: Hold | undefined = outer; hold !== undefined; hold = hold.outer) {
    if (hold.lender !== lender || !hold.isActive) continue;
    if (options.alongside?.holds.has(hold.resourceId) !== true) held.push(hold.resourceId);
  }
  if (held.length > 0) throw new LockReentrancyError(resourceId, held.reverse());
}

/** Runs the section so that everything it starts, awaited or not, is known to come from inside this hold. */
export function runInside<T>(
  hold: Hold,
  outer: Hold | undefined,
  criticalSection: (hold: Hold) => T | PromiseLike<T>,
): T | PromiseLike<T> {
  if (outer !== undefined) hold.outer = firstActive(outer);
  return innermost.run(hold, criticalSection, hold);
}

/**
 * Runs `fn` as if it were started outside of any section: for what is only begun here and serves others (a worker, a
 * connection, a timer). What it locks is not taken for re-entry, so it must not be awaited by the section.
 */
export function detached<T>(fn: () => T): T {
  return innermost.run(undefined, fn);
}

/** Ended holds are dropped, so that work which outlives its section and locks again does not drag a growing chain. */
function firstActive(innermostHold: Hold): Hold | undefined {
  let hold: Hold | undefined = innermostHold;
  while (hold !== undefined && !hold.isActive) hold = hold.outer;
  return hold;
}
