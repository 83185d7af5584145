import type { LockObserver } from "../../application/ports/lock-observer";

/** Tells several observers of each event; one that throws does not keep it from the others. */
export function lockObservers(...observers: readonly LockObserver[]): LockObserver {
  return {
    notify: (event) => {
      for (const observer of observers) {
        try {
          observer.notify(event);
        } catch {
          // An observer changes nothing, also not what another one hears.
        }
      }
    },
  };
}
