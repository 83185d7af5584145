import type { LockOptions } from "../../../application/ports/lock-provider";
import type { LockClock } from "../lock-clock";

/** For how long a lock is kept from its acquisition on, whatever its section does; 0 where nothing is asked for. */
export function minimumHoldMs({ lockAtLeastFor = 0 }: LockOptions): number {
  if (!(lockAtLeastFor >= 0 && lockAtLeastFor < Infinity))
    throw new RangeError(`lockAtLeastFor is ${lockAtLeastFor}: it takes milliseconds, from 0 on`);
  return lockAtLeastFor;
}

/** What is left of it when the section has ended: nothing of a lock that is lost, or that `withLocks` took in vain. */
export function restOfHoldMs(
  options: LockOptions,
  untilMs: number,
  nowMs: number,
  lost?: AbortSignal,
): number {
  const isInVain = lost?.aborted === true || options.alongside?.hasBegun() === false;
  return isInVain ? 0 : Math.max(0, untilMs - nowMs);
}

/** Resolves after that time, or when the lock is lost: then there is nothing left to keep. */
export function keptFor(clock: LockClock, restMs: number, lost?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (lost?.aborted === true) return resolve();
    const over = (): void => {
      cancel();
      lost?.removeEventListener("abort", over);
      resolve();
    };
    const cancel = clock.after(restMs, over);
    lost?.addEventListener("abort", over, { once: true });
  });
}
