import type { HeldLock } from "../../../application/locking/acquire-lock";
import { onAbort } from "../line/cancellation";
import type { LockClock } from "../lock-clock";

/** Calls back with the reason for which a leader has to step down; returns how to stop watching. */
export type Watch = (stepDown: (reason: string) => void) => () => void;

export function watchSignal(signal: AbortSignal, why: (reason: unknown) => string): Watch {
  return (stepDown) => {
    const fire = (): void => stepDown(why(signal.reason));
    if (!signal.aborted) return onAbort(signal, fire);
    fire();
    return () => {};
  };
}

/** Tells when no more than `endingMs` is left of a lock that is not renewed. Each renewal puts that off. */
export function watchTimeLeft(lock: Pick<HeldLock, "aloneForMs">, endingMs: number, clock: LockClock): Watch {
  return (stepDown) => {
    let cancel = (): void => {};
    const look = (): void => {
      const leftMs = lock.aloneForMs() - endingMs;
      if (leftMs === Infinity) return;
      if (leftMs > 0) cancel = clock.after(Math.ceil(leftMs), look);
      else stepDown(`the lock cannot be renewed, and may end in ${endingMs} ms`);
    };
    look();
    return () => cancel();
  };
}

/** Asks again and again, one question at a time. */
export function watchHealth(isHealthy: () => Promise<boolean>, everyMs: number, clock: LockClock): Watch {
  return (stepDown) => {
    let isOver = false;
    const ask = async (): Promise<void> => {
      const healthy = await isHealthy();
      if (isOver) return;
      if (healthy) cancel = clock.after(everyMs, () => void ask());
      else stepDown("the health check failed");
    };
    let cancel = clock.after(everyMs, () => void ask());
    return () => {
      isOver = true;
      cancel();
    };
  };
}

/** The user's check as one that always answers in time: an error, and no answer within `limitMs`, are a no. */
export function boundedCheck(
  check: (() => boolean | PromiseLike<boolean>) | undefined,
  limitMs: number,
  clock: LockClock,
): () => Promise<boolean> {
  if (check === undefined) return () => Promise.resolve(true);
  return () =>
    new Promise((resolve) => {
      const cancel = clock.after(limitMs, () => resolve(false));
      const answer = (isHealthy: boolean): void => {
        cancel();
        resolve(isHealthy);
      };
      Promise.resolve()
        .then(check)
        .then(
          (isHealthy) => answer(isHealthy),
          () => answer(false),
        );
    });
}
