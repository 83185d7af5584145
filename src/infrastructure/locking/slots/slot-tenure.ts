import { MOST_PERMITS } from "../../../application/locking/slots";
import { LockLostError } from "../../../application/ports/lock-errors";
import type { Tenure } from "../lock-backend";

/** Unique among the holders of a semaphore, and growing in each slot: the slot's own fence, and then the slot. */
export function slotFence(fence: bigint, slot: number): bigint {
  return fence * BigInt(MOST_PERMITS) + BigInt(slot - 1);
}

/**
 * What the tenure of a slot's lock is to a holder of the semaphore. `onEnding`: it is being given back, until the promise
 * resolves.
 */
export function slotTenure(
  resourceId: string,
  slot: number,
  tenure: Tenure,
  onEnding: (ending: Promise<void>) => void,
): Tenure {
  let ending: Promise<void> | undefined;
  const endWith = (end: () => Promise<void>): Promise<void> => {
    if (ending === undefined) onEnding((ending = end()));
    return ending;
  };
  return {
    fencingToken: slotFence(tenure.fencingToken, slot),
    slot,
    get lost() {
      return tenure.lost;
    },
    assertHeld: () => {
      try {
        tenure.assertHeld();
      } catch (error) {
        throw error instanceof LockLostError ? new LockLostError(resourceId, error.reason) : error;
      }
    },
    release: () => endWith(() => tenure.release()),
    ...(tenure.aloneForMs !== undefined && { aloneForMs: () => tenure.aloneForMs?.() ?? Infinity }),
    ...(tenure.leaveFor !== undefined && {
      leaveFor: (restMs: number) => endWith(async () => tenure.leaveFor?.(restMs)),
    }),
    ...(tenure.observe !== undefined && { observe: (tell) => tenure.observe?.(tell) }),
  };
}

export function isHeld(tenure: Tenure): boolean {
  try {
    tenure.assertHeld();
    return true;
  } catch {
    return false;
  }
}
